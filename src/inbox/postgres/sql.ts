/** Of a statement: 1 where the condition holds, else 0. */
export const is = (condition: string): string => `coalesce(${condition}, false)::integer`;
