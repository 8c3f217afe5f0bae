// reduction_unit.v - ARC's reduction unit (section 5.4): a sub-core's serial sum of f32 values.
// SPDX-License-Identifier: Apache-2.0
//
// A value a clock, of the lanes of one address; subnormals count as 0, as `red.add.f32` takes them;
// rounded to nearest even. NaN is 7fffffff, as of NVIDIA's adder.
module adder(input [31:0] a, input [31:0] b, output [31:0] sum);
  wire swap = a[30:0] < b[30:0];
  wire [31:0] large = swap ? b : a, small = swap ? a : b;
  wire [7:0] exponent = large[30:23], distance = exponent - small[30:23];
  wire subtract = large[31] ^ small[31];
  wire [23:0] large_digits = exponent == 0 ? 24'd0 : {1'b1, large[22:0]};
  wire [23:0] small_digits = small[30:23] == 0 ? 24'd0 : {1'b1, small[22:0]};
  // Three digits below the last: guard, round, and sticky, which holds all that is shifted out.
  wire [4:0] shift = distance > 8'd26 ? 5'd27 : distance[4:0];
  wire [53:0] shifted = {small_digits, 30'd0} >> shift;
  wire [26:0] aligned = {shifted[53:28], |shifted[27:0]};
  wire [26:0] minuend = {large_digits, 3'd0};
  wire [27:0] total = subtract ? {1'b0, minuend} - {1'b0, aligned} : {1'b0, minuend} + {1'b0, aligned};
  // The first 1 moves to digit 26.
  reg [4:0] zeros;
  integer i;
  always @* begin
    zeros = 5'd27;
    for (i = 0; i < 27; i = i + 1) if (total[i]) zeros = 5'd26 - i[4:0];
  end
  wire [26:0] digits = total[27] ? {total[27:2], total[1] | total[0]} : total[26:0] << zeros;
  wire [9:0] place = total[27] ? {2'd0, exponent} + 10'd1 : {2'd0, exponent} - {5'd0, zeros};
  wire up = digits[2] & (digits[3] | digits[1] | digits[0]);
  wire [24:0] rounded = {1'b0, digits[26:3]} + {24'd0, up};
  wire [9:0] exponent_out = place + {9'd0, rounded[24]};
  wire is_nan = (&a[30:23] & |a[22:0]) | (&b[30:23] & |b[22:0]) | (&a[30:23] & &b[30:23] & subtract);
  wire is_infinite = &exponent | (~exponent_out[9] & exponent_out[8:0] >= 9'd255);
  wire is_zero = total == 0 | exponent_out[9] | exponent_out == 0;
  assign sum = is_nan ? 32'h7fffffff
             : is_infinite ? {large[31], 8'hff, 23'd0}
             : is_zero ? {large[31] & (small[31] | total != 0), 31'd0}
             : {large[31], exponent_out[7:0], rounded[24] ? 23'd0 : rounded[22:0]};
endmodule

module reduction_unit(input clock, input first, input valid, input last, input [31:0] value,
                      output reg [31:0] sum, output reg done);
  wire [31:0] next;
  adder adder(first ? 32'h80000000 : sum, value, next);
  always @(posedge clock) begin
    if (valid) sum <= next;
    done <= valid & last;
  end
endmodule
