export type DatabaseAddress =
  /** A path, or `:memory:`. */
  | { readonly kind: "sqlite"; readonly file: string }
  /** `postgres://user:password@host:port/database`. */
  | { readonly kind: "postgres"; readonly url: string };

const POSTGRES = /^postgres(ql)?:/i;

const TLS = ["disable", "prefer", "require", "verify-ca", "verify-full", "no-verify"];

/**
 * Describes why a database address is invalid, without quoting the address. Returns `undefined` for a valid address.
 */
export function databaseProblem(text: string): string | undefined {
  if (POSTGRES.test(text)) return postgresProblem(text);
  if (!/^file:./.test(text)) {
    return (
      "must have the form file:relative/path.db, file:/absolute/path.db or " +
      "postgres://user:password@host:port/database"
    );
  }
  if (/^file:\/\//.test(text)) {
    return "must be file: followed by a path, without //";
  }
  return undefined;
}

/** @param text an address that {@link databaseProblem} accepts */
export function readDatabase(text: string): DatabaseAddress {
  return POSTGRES.test(text)
    ? { kind: "postgres", url: text }
    : { kind: "sqlite", file: text.replace(/^file:/, "") };
}

/** Returns the address without its user, password and parameters, for logs. */
export function showDatabase(address: DatabaseAddress): string {
  if (address.kind === "sqlite") return address.file;
  const { host, pathname } = new URL(address.url);
  return `postgres://${host}${pathname}`;
}

/** Returns the passwords in an address, and PGPASSWORD, which the driver uses if the address has no password. */
export function secretsOf(
  address: DatabaseAddress,
  env: { readonly PGPASSWORD?: string | undefined },
): string[] {
  if (address.kind === "sqlite") return [];
  const { password, searchParams } = new URL(address.url);
  const ofAddress = [password, decodeURIComponent(password), searchParams.get("password") ?? ""];
  const all = [...ofAddress, env.PGPASSWORD ?? ""];
  return [...new Set(all)].filter((secret) => secret !== "");
}

function postgresProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !isEncoded(url)) {
    return (
      "must have the form postgres://user:password@host:port/database; percent-encode special characters in the password, " +
      "such as %40 for @, %2F for / and %23 for #"
    );
  }
  if (url.host === "" && !url.searchParams.has("host")) {
    return "must name the PostgreSQL host: postgres://host:port/database";
  }
  if (!/^\/[^/]+$/.test(url.pathname)) {
    return "must name a database after the host: postgres://host:port/database";
  }
  const tls = url.searchParams.get("sslmode");
  if (tls !== null && !TLS.includes(tls))
    return `has an unsupported sslmode; use one of ${TLS.join(", ")}`;
  return undefined;
}

function isEncoded({ username, password, pathname }: URL): boolean {
  try {
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
