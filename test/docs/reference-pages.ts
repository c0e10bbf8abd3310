import { join } from "node:path";
import { reference } from "../../scripts/reference/reference.ts";
import type { Page } from "./markdown.ts";

/** Pages of the API reference, which the site's build writes. */
export const referencePages: readonly Page[] = [...reference()].map(([page, text]) => ({
  path: join("docs", page),
  text,
}));
