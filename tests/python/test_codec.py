# SPDX-License-Identifier: MIT
"""Blocks to numbers and back."""
import numpy
import pytest
from hypothesis import given, settings, strategies

import ingot

# Types that a quantizer makes without an importance.
ENCODED = [name for name, row in ingot.tensor_types.items() if row.importance_weights != "required"]


@pytest.mark.parametrize("type", ENCODED)
def test_every_type_comes_back_nearly(type, weights):
    row = ingot.tensor_type(type)
    source = weights if row.type not in ("I8", "I16", "I32", "I64") else numpy.rint(weights * 40)
    blocks = ingot.quantize(source, type)
    assert blocks.dtype == numpy.uint8
    assert blocks.shape == (8, 512 // row.block_elements * row.block_bytes)
    decoded = ingot.dequantize(blocks, type, source.shape)
    error = ingot.measure_error(source, decoded)
    # The signal is one; a type of about one bit still has half of it.
    assert error["count"] == source.size and error["rmse"] < 0.9 * numpy.sqrt((source ** 2).mean())


@settings(max_examples=50)
@given(blocks=strategies.binary(min_size=1, max_size=4096), threads=strategies.integers(0, 3),
       type=strategies.sampled_from(list(ingot.tensor_types)))
def test_any_bytes_decode_the_same_on_any_number_of_threads(blocks, threads, type):
    row = ingot.tensor_type(type)
    whole = blocks[:len(blocks) // row.block_bytes * row.block_bytes]
    first = ingot.dequantize(whole, type, threads=1)
    assert first.size == len(whole) // row.block_bytes * row.block_elements
    second = ingot.dequantize(numpy.frombuffer(whole, numpy.uint8), type, threads=threads)
    assert first.tobytes() == second.tobytes()
    if len(whole) != len(blocks):
        with pytest.raises(ingot.UsageError) as caught:
            ingot.dequantize(blocks, type)
        assert caught.value.code == "size_mismatch"


@settings(max_examples=30)
@given(numbers=strategies.lists(strategies.floats(width=32), min_size=1, max_size=200))
def test_plain_types_keep_every_bit(numbers):
    array = numpy.array(numbers, numpy.float32)
    assert ingot.dequantize(ingot.quantize(array, "F32"), "F32").tobytes() == array.tobytes()


def test_all_kinds_of_numbers_are_taken(weights):
    expected = ingot.quantize(weights.astype(numpy.float16).astype(numpy.float32), "Q8_0")
    numpy.testing.assert_array_equal(ingot.quantize(weights.astype(numpy.float16), "Q8_0"), expected)
    numpy.testing.assert_array_equal(ingot.quantize(weights.astype(numpy.float64), "Q8_0"),
                                     ingot.quantize(weights, "Q8_0"))
    halves = ingot.quantize(weights, "BF16").view(numpy.uint16)
    numpy.testing.assert_array_equal(
        ingot.quantize(halves, "Q8_0"),
        ingot.quantize(ingot.dequantize(halves, "BF16", weights.shape), "Q8_0"))
    numpy.testing.assert_array_equal(ingot.quantize(weights[:, ::-1], "Q8_0"),
                                     ingot.quantize(weights[:, ::-1].copy(), "Q8_0"))
    with pytest.raises(TypeError):
        ingot.quantize(numpy.array(["a"]), "Q8_0")


def test_an_importance_counts(weights):
    importance = numpy.linspace(0.01, 100, 512)
    with pytest.raises(ingot.UsageError) as caught:
        ingot.quantize(weights, "IQ2_XXS")
    assert caught.value.code == "weights_required"
    blocks = ingot.quantize(weights, "IQ2_XXS", importance)
    assert ingot.measure_error(weights, ingot.dequantize(blocks, "IQ2_XXS", weights.shape))["rmse"] < 0.7
    assert (ingot.quantize(weights, "Q4_K", importance) != ingot.quantize(weights, "Q4_K")).any()
    with pytest.raises(ingot.UsageError):
        ingot.quantize(weights, "Q4_K", importance[:7])


def test_rows_have_to_be_whole_blocks(weights):
    with pytest.raises(ingot.Error) as caught:
        ingot.quantize(weights[:, :100], "Q4_K")
    assert caught.value.code == "row_not_whole_blocks"


def test_big_endian_blocks(weights):
    little = ingot.quantize(weights, "Q4_K")
    big = ingot.quantize(weights, "Q4_K", byte_order="big")
    numpy.testing.assert_array_equal(ingot.swap_byte_order(little, "Q4_K"), big)
    numpy.testing.assert_array_equal(ingot.dequantize(big, "Q4_K", byte_order="big"),
                                     ingot.dequantize(little, "Q4_K"))


def test_an_output_array_is_filled(weights):
    blocks = ingot.quantize(weights, "Q8_0")
    out = numpy.empty(weights.shape, numpy.float32)
    assert ingot.dequantize(blocks, "Q8_0", out=out) is out
    numpy.testing.assert_array_equal(out, ingot.dequantize(blocks, "Q8_0", weights.shape))
    for wrong in (out[:, ::2], out.astype(numpy.float64)):
        with pytest.raises(ValueError):
            ingot.dequantize(blocks, "Q8_0", out=wrong)
    with pytest.raises(ingot.UsageError):
        ingot.dequantize(blocks, "Q8_0", (3, 3))
