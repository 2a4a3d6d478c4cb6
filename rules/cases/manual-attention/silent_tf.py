# Of another framework, whatever it mentions: torch.nn.functional.softmax
import tensorflow as tf


class Attention(tf.keras.layers.Layer):
    def call(self, query, key, value):
        scores = tf.matmul(query, key, transpose_b=True)
        weights = tf.nn.softmax(scores, axis=-1)
        return tf.matmul(weights, value)
