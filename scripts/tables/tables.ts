import { configuration } from "./configuration.ts";
import { payloads } from "./payloads.ts";
import type { DocsTable } from "./table.ts";

export const docsTables: readonly DocsTable[] = [configuration, payloads];
