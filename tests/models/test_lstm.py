# An LSTM language model: two layers, and packed sequences of different lengths.
import torch
import torch.nn.functional as F
from modelcheck import compare_forward, compare_training, twins
from support import assert_same, to_device
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

VOCAB, WIDTH = 31, 16


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, WIDTH, padding_idx=0)
        self.lstm = nn.LSTM(WIDTH, WIDTH, num_layers=2, batch_first=True)
        self.decoder = nn.Linear(WIDTH, VOCAB)

    def forward(self, ids, lengths=None):
        x = self.embedding(ids)
        if lengths is None:
            return self.decoder(self.lstm(x)[0])
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, _ = self.lstm(packed)
        return self.decoder(pad_packed_sequence(out, batch_first=True)[0])


def model():
    torch.manual_seed(1)
    return LanguageModel()


def batches(count, lengths=(7, 7, 7)):
    gen = torch.Generator().manual_seed(2)
    for _ in range(count):
        ids = torch.randint(1, VOCAB, (len(lengths), max(lengths) + 1), generator=gen)
        for row, length in enumerate(lengths):
            ids[row, length + 1 :] = 0
        yield ids


def loss_of(lengths=None):
    def loss(module, ids):
        logits = module(ids[:, :-1], lengths)
        return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)

    return loss


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.5)


def test_forward():
    compare_forward(model(), next(batches(1)))


def test_three_training_steps():
    losses = compare_training(model(), sgd, loss_of(), [next(batches(1))] * 3)
    assert losses[2] < losses[0]


def test_three_training_steps_packed():
    # The lengths stay on CPU, as pack_padded_sequence wants them.
    lengths = torch.tensor([7, 3, 5])
    losses = compare_training(model(), sgd, loss_of(lengths), [next(batches(1, (7, 3, 5)))] * 3)
    assert losses[2] < losses[0]


def test_packed_tail_is_zero_and_states_are_those_of_the_last_token():
    cpu, dev = twins(model().lstm)
    x = torch.randn(2, 4, WIDTH, generator=torch.Generator().manual_seed(3))
    lengths = torch.tensor([4, 2])
    out, (h, c) = dev(pack_padded_sequence(to_device(x), lengths, batch_first=True))
    padded, back = pad_packed_sequence(out, batch_first=True)
    assert back.tolist() == [4, 2]
    assert_same(padded[1, 2:], torch.zeros(2, WIDTH))
    expected, (h1, c1) = cpu(x[1:, :2])
    assert_same(padded[1:, :2], expected.detach(), rtol=1e-4, atol=1e-5)
    assert_same(h[:, 1:], h1.detach(), rtol=1e-4, atol=1e-5)
    assert_same(c[:, 1:], c1.detach(), rtol=1e-4, atol=1e-5)


def test_bidirectional_and_gru():
    torch.manual_seed(4)
    x = torch.randn(2, 5, WIDTH)
    for kind in (nn.LSTM, nn.GRU, nn.RNN):
        cpu, dev = twins(kind(WIDTH, 8, batch_first=True, bidirectional=True))
        expected = cpu(x)[0]
        actual = dev(to_device(x))[0]
        assert_same(actual.detach(), expected.detach(), rtol=1e-4, atol=1e-5)
