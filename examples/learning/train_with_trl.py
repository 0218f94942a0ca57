"""From a search to a trained model, without a GPU and without a network:

    python train_with_trl.py OUT

1. a search over letters/ whose model is scripted, with its replies kept
2. `kernelsmith dataset`: rows for SFT and for reinforcement learning
3. three steps of SFT in TRL, on a model of random weights that is made here
4. five steps of GRPO in TRL, with rewards from `kernelsmith serve`

For a model and a task of yours: give GRPOTrainer its name, leave `extract` out, and run `kernelsmith serve` by hand.
"""

import contextlib
import subprocess
import sys
from pathlib import Path

import torch
from datasets import Dataset
from scripted_server import scripted
from tiny_model import tiny_model, tiny_tokenizer
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

import kernelsmith as ks
from kernelsmith.learning import Judge, RewardClient
from kernelsmith.learning.trl import reward_function

HERE = Path(__file__).resolve().parent
TASK = HERE / "letters"
KERNELSMITH = [sys.executable, "-m", "kernelsmith"]
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
COMMON = dict(use_cpu=True, bf16=False, report_to="none", save_strategy="no", disable_tqdm=True, logging_steps=1)


def search(run):
    """Every reply has a letter more than the one before."""
    with scripted(lambda number: f"More letters:\n```\n{ALPHABET[:2 + number]}\n```\n") as url:
        model = ks.Chat("scripted", base_url=url, keep={"text": True})
        outcome = ks.run(TASK, proposer=model, iterations=12, out=run, limits={"confirm": False})
    print(f"search: {outcome.counts['iterations']} iterations, best {outcome.best.fitness:g}")


def rows(run, kind, out, *options):
    """What `kernelsmith dataset` makes of the run."""
    subprocess.run([*KERNELSMITH, "dataset", run, "--kind", kind, "--out", out, "--licence", "MIT", *options], check=True)
    return Dataset.from_parquet([str(file) for file in sorted(out.glob("train-*.parquet"))], cache_dir=str(out / "cache"))


def sft(model, tokenizer, dataset, out):
    arguments = SFTConfig(output_dir=str(out), max_steps=3, per_device_train_batch_size=2, learning_rate=1e-2,
                          max_length=8192, assistant_only_loss=True, **COMMON)
    same = dataset.select(range(2))  # in each step, so that the losses tell whether the model learns
    trainer = SFTTrainer(model, args=arguments, train_dataset=same, processing_class=tokenizer)
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    print("sft: loss", *(f"{loss:.3f}" for loss in losses))


@contextlib.contextmanager
def service():
    """`kernelsmith serve` for the task, and its URL."""
    process = subprocess.Popen([*KERNELSMITH, "serve", "--task", TASK, "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        yield next(word for word in process.stdout.readline().split() if word.startswith("http://"))
    finally:
        process.terminate()
        process.wait()


def grpo(model, tokenizer, dataset, out, url):
    # Random weights write no fenced blocks: the whole reply is the program.
    judge = Judge(RewardClient(url), extract=lambda reply, row: reply)
    arguments = GRPOConfig(output_dir=str(out), max_steps=5, per_device_train_batch_size=4, num_generations=4,
                           max_completion_length=32, loss_type="dr_grpo", scale_rewards="none", learning_rate=1e-3, **COMMON)
    trainer = GRPOTrainer(model, reward_funcs=reward_function(judge), args=arguments, train_dataset=dataset,
                          processing_class=tokenizer)
    trainer.train()
    steps = [entry for entry in trainer.state.log_history if "reward" in entry]
    print("grpo: reward", *(f"{step['reward']:.3f}" for step in steps))
    print("grpo: without a score", sum(round(step["kernelsmith/unscored"] * 4) for step in steps), "of", 4 * len(steps))


def main(out):
    torch.set_num_threads(1)  # more than one thread costs a tiny model more than it does
    run = out / "letters.run"
    search(run)
    tokenizer = tiny_tokenizer((HERE.parent.parent / "README.md").read_text())
    model = tiny_model(tokenizer)
    sft(model, tokenizer, rows(run, "sft", out / "sft-rows"), out / "sft")
    with service() as url:
        grpo(model, tokenizer, rows(run, "rl", out / "rl-rows", "--per-task", "4"), out / "grpo", url)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
