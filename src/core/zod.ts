/**
 * Re-exports the parts of zod that this project uses. The package bundles them, because zod itself consists of a
 * hundred files, including translations, and loading those would slow down every start.
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
