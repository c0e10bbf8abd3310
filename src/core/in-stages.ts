/**
 * Does the work of one stage after the other, that of a stage at the same time. What fails keeps nothing else from
 * being done.
 *
 * @throws what failed, once all is done; an AggregateError where several have
 */
export async function inStages(
  stages: readonly (readonly (() => Promise<unknown> | undefined)[])[],
): Promise<void> {
  const errors: unknown[] = [];
  for (const stage of stages) {
    // A function of its own, so that what throws at once is a rejection like any other.
    const results = await Promise.allSettled(stage.map(async (work) => await work()));
    for (const result of results) if (result.status === "rejected") errors.push(result.reason);
  }
  if (errors.length > 1) throw new AggregateError(errors, "Several things failed at the end.");
  if (errors.length > 0) throw errors[0];
}
