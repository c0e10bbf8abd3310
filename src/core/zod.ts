/**
 * The parts of zod that the bot uses. The package bundles them: zod itself is a hundred files in many languages, which
 * would slow each start.
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
