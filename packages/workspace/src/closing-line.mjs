/**
 * The plain line that ends a run of tests; other programs read it.
 * @param {{ passed: number, failed: number, skipped?: number }} counts
 */
export const closingLine = ({ passed, failed, skipped = 0 }) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
