"""Guesses for an argument by its name. A guess is a Python text; likely guesses come first."""

from __future__ import annotations

import re

# Sizes of real networks: 512 features in 8 heads of 64, 64 channels, pictures of 224.
_ARGUMENTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"^(n_?|num_?)?heads?(_num)?s?$|nhead|num_heads|n_heads|num_attention_heads|heads_num", ("8", "[8, 8]")),
    (r"dim_?head|head_?dim|d_head|head_size|^d_[kv]$|^d_kv$|head_channels|attention_head_size", ("64",)),
    (r"^(in|input|out|output)_?(chans?|channels?|ch|planes|filters|c|nc)$|^(inp|oup|inplanes?|planes|ch_in|ch_out|c1|c2|cin|"
        "cout|nf|ngf|"
     r"ndf|nc|width|channels?|n_?channels|num_channels|base_channels?|n_?feats?|num_feat|filters|mid_channels|in_chs|"
         "out_chs|"
     r"chs|midplanes)$", ("64", "3", "[64, 128, 256]")),
    (r"kernel_?size|^kernel$|ksize|^k_size$|^k$|conv_kernel|filter_size", ("3", "(3, 3)", "7")),
    (r"stride|dilation|^d$", ("1", "2")),
    (r"padding|^pad$|^p$", ("1", "0")),
    (r"drop|prob|^dp|noise|label_smoothing|alpha_drop", ("0.0",)),
    (r"eps|epsilon", ("1e-05",)),
    (r"vocab|num_(tokens|embeddings|embed|words)|n_vocab|ntoken|num_codes|codebook_size|n_e$|n_embed$", ("8192",)),
    (r"(im(a)?ge?|input|frame|spatial)_?(size|res|resolution|hw|height|width)|resolution|^img|^feat_?size$|^fmap_size|"
        "^input_size$",
     ("224", "(224, 224)", "32", "(32, 32)", "512")),
    (r"window", ("7", "(7, 7)", "8", "16")),
    (r"patch", ("16", "4", "(16, 16)")),
    (r"max_?len|seq_?len|context|block_size|max_(pos|seq)|n_ctx|sequence|num_(patches|positions|frames)|length|n_positions|"
        "pred_len|"
     r"label_len|time_steps|num_nodes", ("256", "196", "512")),
    (r"(n|num)_?(class|label|categor|output|anchors|joints|keypoints)|classes|nclass|n_cls", ("100",)),
    (r"depths?$|layers|n_?layer|blocks|num_(blocks|stages|convs|layers|res)|repeats|n_blocks|stages|levels", ("2",
        "[2, 2]", "[2, 2, 2, 2]")),
    (r"ratio|expan|mult|factor|^r$|growth", ("4", "0.25", "2", "0.5")),
    (r"reduc|squeeze|bottleneck", ("4", "16")),
    (r"group", ("1", "8", "4", "32")),
    (r"expert", ("8", "2")),
    (r"top_?k|^k_top", ("2",)),
    (r"rank|^lora", ("16",)),
    (r"scale|upscale|downscale|shuffle", ("2", "1.0", "(2, 2)")),
    (r"temperature|^tau$|gamma|beta|alpha|lambda|weight$|momentum|slope|init_value|margin|sigma|std|coef", ("0.5", "1.0")),
    (r"theta|base$", ("10000",)),
    (r"act|nonlin|relu|activation", ("nn.GELU", "nn.ReLU()", "'relu'", "'gelu'", "nn.ReLU", "F.relu", "None")),
    (r"norm(_layer|_type|_cfg)?$|normalization|norm_", ("nn.BatchNorm2d", "nn.LayerNorm", "'bn'", "None", "'batch'",
        "'layer'")),
    (r"conv(_layer|_cfg|_op)?$", ("nn.Conv2d", "None")),
    (r"^(fn|func?|module|net|layer|block|sublayer|sub_?module|inner|model|backbone|encoder|decoder|mlp|attn|ff|head|f|g|"
        "submodule|stem)$",
     ("nn.Linear(512, 512)", "nn.Identity()", "nn.Conv2d(64, 64, 3, padding=1)", "nn.Linear", "nn.Conv2d")),
    (r"mode|type|method|reduction|fusion|pool|arch|variant|name|style|padding_mode|kind|format|strategy", (
        "'bilinear'", "'mean'", "'zeros'", "'avg'", "'max'", "None", "'sum'", "'same'", "'default'")),
    (r"^(is_|use_|has_|with_|do_|add_|enable|no_|return_|causal|bidirectional|bias|affine|pre_norm|flash|residual|shortcut|"
        "learn|"
     r"trainable|share|separable|bn|batch_norm|inplace|qkv_bias|batch_first|last|first|training|train)", ("True", "False")),
    (r"embed|dim|hidden|d_model|d_ff|inner|features?|units|n_embd|size|latent|width|in_|out_|query|key|value|state|code", (
        "512", "64", "[512, 512]", "(32, 32)")),
)
_COMPILED = [(re.compile(pattern), texts) for pattern, texts in _ARGUMENTS]
_ANY = ("64", "8", "3", "0.5", "True", "None", "[64, 64]", "nn.Identity()", "'relu'", "512")
_BY_TYPE = {"int": ("64", "512", "8", "3", "1"), "float": ("0.1", "1.0"), "bool": ("True", "False"),
            "str": ("'relu'", "'mean'", "'bn'", "'bilinear'"), "Module": ("nn.Identity()", "nn.Linear(512, 512)"),
            "Tensor": ("torch.ones(64)",)}


def of_argument(name: str, annotation: str = "") -> tuple[str, ...]:
    """Guesses for a constructor's argument."""
    found = next((texts for pattern, texts in _COMPILED if pattern.search(name.lower())), _ANY)
    wanted = next((kind for kind in _BY_TYPE if re.match(rf"(typing\.|Optional\[|nn\.|torch\.)*{kind}\b", annotation)), "")
    if wanted == "bool" or wanted == "float" and "." not in found[0]:
        return _BY_TYPE[wanted]
    if wanted == "int":
        kept = tuple(text for text in found if text.lstrip("-").isdigit())
        return kept or _BY_TYPE["int"]
    return tuple(dict.fromkeys([*found, *_BY_TYPE.get(wanted, ())]))


def of_attribute(name: str) -> str:
    """Guesses for an attribute that is read from a configuration."""
    return of_argument(name)[0]


# Arguments of forward with a specific name. "" stands for the first guess from the module's layers.
_INPUTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"^(h|height|hh)$|^(w|width|ww)$", ("int 16", "")),
    (r"(input|token|position|word|pos|tgt|src)_?(ids?|seq|tokens?)$|^(ids?|idx|tokens?|indices|input_ids|labels?|targets?|"
        "seq)$", (
        "ids B L", "", "ids B")),
    (r"^(t|time|times|timesteps?|sigmas?|noise_level|steps?)$", ("vector B", "ids B", "")),
    (r"mask", ("bools B L", "", "bools L L")),
    (r"^(size|shape|output_size|target_size|hw|x_size|input_shape|spatial_shape|resolution)$", ("text (32, 32)",
        "text (16, 16)")),
    (r"^(features|feats|inputs|xs|feature_maps|x_list|tensors|feature_list|outputs)$", ("", "list")),
    (r"^(scale|factor|alpha|beta|weight|temperature|eps|p|lam|lambda_)$", ("text 1.0", "")),
    (r"^(training|train|return_|is_|use_)", ("text False",)),
    (r"edge_index", ("edges",)),
    (r"(len(gth)?s|_lens?)$", ("vector B", "ids B", "")),
    (r"^(n|k)$|^(num|length|seq_len|max_len|levels?|offset|dim|start_pos)", ("int 256", "int 1", "")),
    (r"^(coor|xyz|points?$|vertices)", ("points", "")),
    (r"^adj", ("square", "")),
    (r"wav|audio|signal", ("signal", "")),
)
_INPUTS_COMPILED = [(re.compile(pattern), texts) for pattern, texts in _INPUTS]


def of_input(name: str, annotation: str = "") -> tuple[str, ...]:
    found = next((texts for pattern, texts in _INPUTS_COMPILED if pattern.search(name.lower())), ("",))
    if re.match(r"int\b", annotation):
        return ("int 16",)
    if re.search(r"Tensor\b", annotation):
        found = tuple(text for text in found if not text.startswith(("int", "text"))) or ("",)
    if re.match(r"(List|list|Sequence|Tuple)\[(torch\.)?Tensor", annotation):
        return ("list", *found)
    return found
