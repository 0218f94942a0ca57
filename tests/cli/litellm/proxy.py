"""LiteLLM's proxy on this machine, over TLS with a CA of its own: a server of models that nobody here wrote."""

import hashlib
import os
import shutil
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
INSTALL_LIMIT_S = 300
START_LIMIT_S = 240
# What pip says if PyPI cannot be reached; anything else that goes wrong is a failure of the test.
UNREACHABLE = ("NewConnectionError", "ConnectTimeout", "ReadTimeout", "timed out", "ProxyError", "ConnectionResetError",
               "name resolution", "(from versions: none)")

CERTIFICATES = """
import datetime, ipaddress, sys
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

def make(folder, name, issuer=None, issuer_key=None):
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.timezone.utc)
    draft = (x509.CertificateBuilder().subject_name(subject).issuer_name(issuer or subject)
             .public_key(key.public_key()).serial_number(x509.random_serial_number())
             .not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
             .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True))
    if issuer:
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        draft = draft.add_extension(x509.SubjectAlternativeName([address]), critical=False)
    certificate = draft.sign(issuer_key or key, hashes.SHA256())
    open(f"{folder}/{name}.pem", "wb").write(certificate.public_bytes(serialization.Encoding.PEM))
    open(f"{folder}/{name}.key", "wb").write(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return subject, key

make(sys.argv[1], "server", *make(sys.argv[1], "ca"))
"""


class Unreachable(Exception):
    """PyPI cannot be reached."""


def environment(venv):
    """The folder with LiteLLM installed in it, made if it lacks or is of other requirements."""
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()
    done = venv / "installed"
    if done.exists() and done.read_text() == wanted:
        return venv
    shutil.rmtree(venv, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    try:
        pip = subprocess.run([venv / "bin/python", "-m", "pip", "install", "--quiet", "--no-deps", "--retries", "1",
                              "--disable-pip-version-check", "--requirement", REQUIREMENTS],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=INSTALL_LIMIT_S)
    except subprocess.TimeoutExpired:
        raise Unreachable(f"PyPI did not give LiteLLM within {INSTALL_LIMIT_S} s") from None
    if pip.returncode != 0:
        if any(sign in pip.stdout for sign in UNREACHABLE):
            raise Unreachable("PyPI cannot be reached: " + pip.stdout.strip().splitlines()[-1])
        raise RuntimeError("LiteLLM cannot be installed:\n" + pip.stdout)
    done.write_text(wanted)
    return venv


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Proxy:
    """Runs until close(). `config` is the text of its config.yaml."""

    def __init__(self, venv, folder, config):
        subprocess.run([venv / "bin/python", "-c", CERTIFICATES, folder], check=True)
        self.ca_file = folder / "ca.pem"
        (folder / "config.yaml").write_text(config)
        self.log = folder / "proxy.log"
        port = free_port()
        self.url = f"https://127.0.0.1:{port}"
        env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [venv / "bin/litellm", "--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port),
                 "--ssl_certfile_path", "server.pem", "--ssl_keyfile_path", "server.key"],
                cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        try:
            self.wait()
        except BaseException:
            self.close()
            raise

    def wait(self):
        trust = ssl.create_default_context(cafile=self.ca_file)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}),
                                             urllib.request.HTTPSHandler(context=trust))
        until = time.monotonic() + START_LIMIT_S
        while self.process.poll() is None and time.monotonic() < until:
            try:
                opener.open(self.url + "/health/liveliness", timeout=10).close()
                return
            except OSError:
                time.sleep(0.2)
        raise RuntimeError("LiteLLM's proxy did not start:\n" + self.log.read_text()[-4000:])

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
