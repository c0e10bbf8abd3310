import { fileURLToPath } from "node:url";

function inSrc(path: string): string {
  return fileURLToPath(new URL(`../../src/${path}`, import.meta.url));
}

// Programs and modules that tests run as separate processes.
export const CLI: string = inSrc("cli/main.ts");
export const SQLITE_INBOX_MODULE: string = inSrc("inbox/sqlite/sqlite-inbox.ts");
export const POSTGRES_INBOX_MODULE: string = inSrc("inbox/postgres/postgres-inbox.ts");

// Source files that tests read or change.
export const ERRORS_SOURCE: string = inSrc("errors.ts");
export const PLATFORM_ERRORS_SOURCE: string = inSrc("platform/error.ts");
export const RECEIVER_SOURCES: string = inSrc("receiver");
export const HEALTH_SOURCE: string = inSrc("receiver/adapters.ts");
export const SIGNATURE_SOURCES: string = inSrc("signature");
export const SCAFFOLDER_REPORT_SOURCE: string = inSrc("create/report.ts");
export const CLI_SOURCES: string = inSrc("cli");
export const POSTGRES_SOURCES: string = inSrc("inbox/postgres");

// Schema folders, with one file per version.
export const SQLITE_SCHEMA: string = inSrc("inbox/sqlite/sql");
export const POSTGRES_SCHEMA: string = inSrc("inbox/postgres/sql");
export const PLATFORM_SCHEMA: string = inSrc("platform/store/sql");

export const SAMPLE_PICTURE: string = inSrc("platform/acts/sample.png");
