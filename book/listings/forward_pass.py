"""What a token costs in a published model: weights, multiplications, memory."""

from dataclasses import dataclass


@dataclass
class Model:
    layers: int
    d_model: int
    heads: int
    key_value_heads: int
    d: int
    feed_forward: int
    feed_forward_matrices: int  # 2, or 3 with a gate
    vocabulary: int
    tied: bool                  # one matrix for embedding and output

    def layer_weights(self):
        attention = self.d_model * self.d * 2 * (self.heads + self.key_value_heads)
        return attention + self.feed_forward_matrices * self.d_model * self.feed_forward

    def weights(self):
        ends = 1 if self.tied else 2
        return self.layers * self.layer_weights() + ends * self.vocabulary * self.d_model

    def multiplications_by_weights(self):
        return self.layers * self.layer_weights() + self.vocabulary * self.d_model

    def multiplications_by_keys(self, keys):
        return 2 * self.layers * self.heads * self.d * keys

    def cache_bytes(self, tokens, bytes_per_number=2):
        return 2 * self.layers * self.key_value_heads * self.d * tokens * bytes_per_number


MODELS = {  # with the longest text of each
    "GPT-2 small": (Model(12, 768, 12, 12, 64, 3072, 2, 50257, True), 1024),
    "GPT-3 175B": (Model(96, 12288, 96, 96, 128, 49152, 2, 50257, True), 2048),
    "Llama 2 7B": (Model(32, 4096, 32, 32, 128, 11008, 3, 32000, False), 4096),
    "Llama 3 8B": (Model(32, 4096, 32, 8, 128, 14336, 3, 128256, False), 8192),
}


def cost_of_a_token(model, context):
    """Billions: weights, multiplications by weights, and by a full context's keys."""
    counts = (model.weights(), model.multiplications_by_weights(),
              model.multiplications_by_keys(context))
    return [count / 1e9 for count in counts]


if __name__ == "__main__":
    for name, (model, context) in MODELS.items():
        numbers = "  ".join(f"{number:7.2f}" for number in cost_of_a_token(model, context))
        print(f"{name:12} {numbers}  {model.cache_bytes(1) / 1024:5.0f} KiB a token")
