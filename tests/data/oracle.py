"""Ask a real sentencepiece: one JSON request a line in, one JSON answer a line out.

Run under the interpreter of the release to ask (see `Oracle`).  Text travels as
base64 of its bytes, so that invalid UTF-8 passes.  Requests:

    {"op": "version"}
    {"op": "load",   "model": PATH}
    {"op": "encode", "model": PATH, "text": BASE64}
    {"op": "decode", "model": PATH, "ids": [...]}
    {"op": "nbest",  "model": PATH, "text": BASE64, "n": N}
    {"op": "entropy", "model": PATH, "text": BASE64, "alpha": A}    (0.2.1 only)

An answer is {"error": MESSAGE} when the release raises; a crash ends the process.
"""

import base64
import json
import subprocess
import sys


class Oracle:
    """One release of sentencepiece in a process of its own, restarted on a crash."""

    CRASHED = {"error": "crashed"}

    def __init__(self, interpreter):
        self._interpreter = interpreter
        self._process = None
        self.version = self.ask(op="version")["version"]

    def _start(self):
        self._process = subprocess.Popen(
            [self._interpreter, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, **request):
        """Return the answer to one request; `Oracle.CRASHED` if the process died."""
        if self._process is None:
            self._start()
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            self.close()
            return self.CRASHED
        return json.loads(line)

    def load(self, model):
        """Return `loaded`, `refused` or `crashed`, always from a fresh process."""
        self.close()
        answer = self.ask(op="load", model=str(model))
        self.close()
        if answer is self.CRASHED:
            return "crashed"
        return "refused" if "error" in answer else "loaded"

    def encode(self, model, text):
        return self.ask(op="encode", model=str(model), text=base64.b64encode(text).decode())

    def decode(self, model, ids):
        return self.ask(op="decode", model=str(model), ids=ids)

    def nbest(self, model, text, n):
        return self.ask(op="nbest", model=str(model), text=base64.b64encode(text).decode(), n=n)

    def entropy(self, model, text, alpha):
        text = base64.b64encode(text).decode()
        return self.ask(op="entropy", model=str(model), text=text, alpha=alpha)

    def close(self):
        if self._process is not None:
            self._process.stdin.close()
            self._process.stdout.close()
            self._process.wait()
            self._process = None


def _base64(data):
    return base64.b64encode(data if isinstance(data, bytes) else data.encode("utf-8")).decode()


def _encode(processor, text):
    """Return ids, pieces, byte spans and the normalised text."""
    from sentencepiece import sentencepiece_pb2

    serialized = processor.encode(text, out_type="serialized_proto")
    result = sentencepiece_pb2.SentencePieceText.FromString(serialized)
    answer = {
        "ids": processor.encode(text),
        "pieces": [_base64(piece.piece) for piece in result.pieces],
        "spans": [[piece.begin, piece.end] for piece in result.pieces],
        "normalized": _base64(processor.normalize(text)),
    }
    if answer["ids"] != [piece.id for piece in result.pieces]:
        raise RuntimeError("the two ways to encode differ")
    return answer


def _nbest(processor, text, n):
    """Return [score, ids] of the n best."""
    from sentencepiece import sentencepiece_pb2

    serialized = processor.nbest_encode(text, nbest_size=n, out_type="serialized_proto")
    result = sentencepiece_pb2.NBestSentencePieceText.FromString(serialized)
    return {"nbest": [[best.score, [piece.id for piece in best.pieces]] for best in result.nbests]}


def _decode(processor, ids):
    """Return the text as bytes, as it need not be UTF-8.

    0.2.3's plain decode can be asked for bytes; its protobuf looks pieces up again, which plain decode
    does not. 0.2.1 has only the protobuf's way.
    """
    import sentencepiece

    if sentencepiece.__version__ == "0.2.1":
        from sentencepiece import sentencepiece_pb2

        serialized = processor.decode(ids, out_type="serialized_proto")
        return {"text": _base64(sentencepiece_pb2.SentencePieceText.FromString(serialized).text)}
    return {"text": _base64(processor.decode(ids, out_type=bytes))}


def _serve():
    import sentencepiece

    processors = {}

    def answer(request):
        if request["op"] == "version":
            return {"version": sentencepiece.__version__}
        path = request["model"]
        if path not in processors:
            processors[path] = sentencepiece.SentencePieceProcessor()
            # Not the model_file argument: an empty file must reach the loader.
            processors[path].Load(path)
        if request["op"] == "load":
            return {}
        if request["op"] == "encode":
            return _encode(processors[path], base64.b64decode(request["text"]))
        if request["op"] == "nbest":
            return _nbest(processors[path], base64.b64decode(request["text"]), request["n"])
        if request["op"] == "entropy":
            text = base64.b64decode(request["text"])
            return {"entropy": processors[path].calculate_entropy(text, request["alpha"])}
        return _decode(processors[path], request["ids"])

    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception as error:  # whatever the release raises is the answer
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    _serve()
