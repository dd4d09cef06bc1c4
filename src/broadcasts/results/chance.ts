/** How many got a variant, and how many of them reacted. */
export type VariantOutcome = { sent: number; reacted: number }

/** With fewer expected people on one side, the test below is not accurate. */
const expectedMin = 5

/**
 * Returns how often differences at least as large as these would appear by chance, if all variants were equally good: Pearson's
 * chi-squared test of two to four proportions, which is the two-sided z-test if there are two. Returns null if the numbers
 * are too small to tell.
 */
export function chanceOf(variants: readonly VariantOutcome[]): number | null {
  const sent = sumOf(variants.map((variant) => variant.sent))
  const reacted = sumOf(variants.map((variant) => variant.reacted))
  const rate = reacted / sent
  const isEnough = variants.every((variant) => variant.sent * Math.min(rate, 1 - rate) >= expectedMin)
  if (variants.length < 2 || !isEnough) return null
  const statistic = sumOf(
    variants.map((variant) => (variant.reacted - variant.sent * rate) ** 2 / (variant.sent * rate * (1 - rate))),
  )
  // The approximation of a certainty is slightly more than one.
  return Math.min(1, upperTail(statistic, variants.length - 1))
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0)

/** The probability that a chi-squared distributed variable with one to three degrees of freedom exceeds `x`. */
export function upperTail(x: number, degrees: number): number {
  const normal = complementaryError(Math.sqrt(x / 2))
  if (degrees === 1) return normal
  if (degrees === 2) return Math.exp(-x / 2)
  return normal + Math.sqrt((2 * x) / Math.PI) * Math.exp(-x / 2)
}

/** The complementary error function for x >= 0, with a relative error below 1.2e-7 (Numerical Recipes, erfcc). */
function complementaryError(x: number): number {
  const t = 1 / (1 + x / 2)
  const coefficients = [
    -1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223,
    0.17087277,
  ]
  const sum = coefficients.reduceRight((value, coefficient) => coefficient + t * value, 0)
  return t * Math.exp(-x * x + sum)
}
