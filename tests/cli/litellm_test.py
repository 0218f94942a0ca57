"""Runs against LiteLLM's proxy, through all three protocols, streamed and not: with its own mock responses, and in front
of a scripted server whose streams it translates. Ends with 77 if PyPI cannot be reached."""

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

from litellm.proxy import Proxy, Unreachable, environment
from litellm.upstream import INPUT_TOKENS, OUTPUT_TOKENS, Upstream
from model import proposals
from support import TaskTest, kernelsmith

SKIPPED = 77
KEY = "sk-planted-key-0123456789"
PROTOCOLS = ("chat_completions", "responses", "messages")
WINNER = "".join(f"k{i} = 7  # @tune 0 1 2 3 4 5 6 7\n" for i in range(6))
REPLY = f"Higher digits:\n```\n{WINNER}```\nThat should do."

CONFIG = """\
model_list:
  - model_name: mock
    litellm_params: {{model: openai/scripted, api_base: "{upstream}/v1", api_key: none, mock_response: {reply}}}
  - model_name: behind-chat
    litellm_params: {{model: hosted_vllm/scripted, api_base: "{upstream}/v1", api_key: none}}
  - model_name: behind-responses
    litellm_params: {{model: openai/scripted, api_base: "{upstream}/v1", api_key: none}}
  - model_name: behind-messages
    litellm_params: {{model: anthropic/scripted, api_base: "{upstream}", api_key: none}}
litellm_settings: {{num_retries: 0, telemetry: false}}
general_settings: {{master_key: {key}}}
"""


class LiteLlmTest(TaskTest):
    @classmethod
    def setUpClass(cls):
        venv = environment(Path(os.environ["KERNELSMITH_LITELLM"]))
        folder = tempfile.TemporaryDirectory(prefix="kernelsmith-litellm-")
        cls.addClassCleanup(folder.cleanup)
        cls.upstream = Upstream(REPLY)
        cls.addClassCleanup(cls.upstream.close)
        config = CONFIG.format(upstream=cls.upstream.url, reply=json.dumps(REPLY), key=KEY)
        cls.proxy = Proxy(venv, Path(folder.name), config)
        cls.addClassCleanup(cls.proxy.close)

    def run_with(self, model, protocol, stream, run="it.run", key=KEY):
        return kernelsmith("run", "task", "--out", run, "--iterations", "1", "--workers", "1", "--protocol", protocol,
                           "--model", model, "--base-url", self.proxy.url + "/v1",
                           "--set", f"proposer.ca_file={self.proxy.ca_file}", "--set", "proposer.attempts=2",
                           "--set", f"proposer.models=[{{name: {model}, stream: {str(stream).lower()}}}]",
                           cwd=self.folder, env={"OPENAI_API_KEY": key, "ANTHROPIC_API_KEY": key})

    def expect_winner(self, done, run):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + self.proxy.log.read_text()[-3000:])
        arrived = proposals(self.folder / run)
        self.assertEqual([p for p in arrived if "refusal" in p], [])
        self.assertEqual(self.json("show", run)["best"]["evaluation"]["fitness"], 42)
        return [p["cost"] for p in arrived if p["cost"]["input_tokens"]]

    def test_mock_responses(self):
        for protocol in PROTOCOLS:
            for stream in (False, True):
                with self.subTest(protocol=protocol, stream=stream):
                    run = f"{protocol}-{stream}.run"
                    done = self.run_with("mock", protocol, stream, run)
                    if (protocol, stream) != ("responses", True):
                        self.expect_winner(done, run)
                        continue
                    # LiteLLM 1.109 cannot make a stream of this protocol from its mock responses, and says so within it.
                    self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
                    self.assertIn("(server_failed)", done.stderr)
                    self.assertIn("0 iterations", done.stdout)

    def test_streams_that_it_translates(self):
        for behind in PROTOCOLS:
            for protocol in PROTOCOLS:
                for stream in (False, True):
                    model = "behind-" + behind.removesuffix("_completions")
                    with self.subTest(model=model, protocol=protocol, stream=stream):
                        run = f"{behind}-{protocol}-{stream}.run"
                        self.upstream.asked.clear()
                        paid = self.expect_winner(self.run_with(model, protocol, stream, run), run)
                        self.assertEqual({(cost["input_tokens"], cost["output_tokens"]) for cost in paid},
                                         {(INPUT_TOKENS, OUTPUT_TOKENS)})
                        self.assertEqual(self.upstream.asked[0][1], stream)

    def test_what_it_refuses_is_one_error_without_the_key(self):
        wrong_key = "sk-wrong-key-9876543210"
        for protocol in PROTOCOLS:
            for model, key, says in (("mock", wrong_key, "400"), ("nobody", KEY, "model=nobody")):
                with self.subTest(protocol=protocol, model=model):
                    done = self.run_with(model, protocol, True, f"{protocol}-{model}.run", key)
                    self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                    self.assertIn(says, done.stderr)
                    self.assertIn("(invalid_argument)", done.stderr)
                    self.assertIn("0 iterations", done.stdout)
                    self.assertNotIn(key, done.stdout + done.stderr)


if __name__ == "__main__":
    try:
        environment(Path(os.environ["KERNELSMITH_LITELLM"]))
    except Unreachable as why:
        print("skipped:", why)
        sys.exit(SKIPPED)
    unittest.main()
