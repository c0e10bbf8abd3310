/**
 * As much of zod as is used here. The package holds it bundled into this file (`scripts/compile.ts`): zod itself is
 * a hundred files with every language it speaks, and a bot would wait for them at each start.
 */
export {
  array,
  boolean,
  enum,
  type input,
  int,
  iso,
  literal,
  looseObject,
  NEVER,
  number,
  object,
  type output,
  preprocess,
  record,
  strictObject,
  string,
  toJSONSchema,
  unknown,
  type ZodError,
  type ZodObject,
  type ZodType,
} from "zod";
