/** Of a statement: 1 where the condition holds, else 0. */
export const is = (condition: string): string => `coalesce(${condition}, false)::integer`;

/**
 * Rows out of lists, which are given as parameters from `$2` on. The planner is kept from seeing how long they are:
 * for some hundred rows it would read whole tables, as long as these are small, where looking each row up is a
 * tenth of the work.
 *
 * @param columns the name of each column, with its type
 */
export function rowsOf(columns: Readonly<Record<string, string>>): string {
  const lists = Object.values(columns).map((type, nth) => `(SELECT $${nth + 2}::${type}[])`);
  return `SELECT * FROM unnest(${lists.join(", ")}) AS input (${Object.keys(columns).join(", ")})`;
}
