"""A scripted agent that asks a model about its note and answers with what the model says."""

import json
import os
import sys
import urllib.error
import urllib.request

prompt = sys.stdin.read()
text = open("notes.txt").read() if "notes" in prompt else "no note"
body = {
    "model": "tiny-2026-01-01",
    "stream": os.environ.get("STREAM") == "1",
    "messages": [{"role": "user", "content": f"{prompt}\n{text}\nseed {os.environ['LITMUS_SEED']}"}],
}
request = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    json.dumps(body).encode(),
    {"Content-Type": "application/json", "Authorization": "Bearer the agent's own"},
)
try:
    with urllib.request.urlopen(request, timeout=10) as reply:
        raw = reply.read().decode()
except urllib.error.HTTPError as error:
    print("upstream said", error.code, error.read().decode(), file=sys.stderr)
    sys.exit(4)
if body["stream"]:
    pieces = [json.loads(line[5:]) for line in raw.splitlines() if line.startswith("data:") and "[DONE]" not in line]
    print("".join(p["choices"][0]["delta"].get("content", "") for p in pieces))
else:
    print(json.loads(raw)["choices"][0]["message"]["content"])
