/**
 * Re-exports the parts of zod in use. The package bundles them because zod itself is a hundred files in many languages,
 * which would slow down each start.
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
