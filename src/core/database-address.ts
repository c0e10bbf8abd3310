/** Address of an inbox. */
export type DatabaseAddress =
  /** A path, or `:memory:`. */
  | { readonly kind: "sqlite"; readonly file: string }
  /** `postgres://user:password@host:port/database`. */
  | { readonly kind: "postgres"; readonly url: string };

const POSTGRES = /^postgres(ql)?:/i;

const TLS = ["disable", "prefer", "require", "verify-ca", "verify-full", "no-verify"];

/** Returns the problem of an address, without quoting it. `undefined` if it can be used. */
export function databaseProblem(text: string): string | undefined {
  if (POSTGRES.test(text)) return postgresProblem(text);
  if (!/^file:./.test(text)) {
    return (
      "must be file:relative/path.db, file:/absolute/path.db or " +
      "postgres://user:password@host:port/database"
    );
  }
  if (/^file:\/\//.test(text)) {
    return "must be file: and a path, without //";
  }
  return undefined;
}

/** @param text one without a problem */
export function readDatabase(text: string): DatabaseAddress {
  return POSTGRES.test(text)
    ? { kind: "postgres", url: text }
    : { kind: "sqlite", file: text.replace(/^file:/, "") };
}

/** Returns the address without user, password and parameters, for logs. */
export function showDatabase(address: DatabaseAddress): string {
  if (address.kind === "sqlite") return address.file;
  const { host, pathname } = new URL(address.url);
  return `postgres://${host}${pathname}`;
}

/**
 * Returns the secrets of an address: its passwords, or the one that the driver takes from the environment if the
 * address has none.
 */
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
      "must be postgres://user:password@host:port/database; percent-encode special characters of the password, " +
      "such as %40 for @, %2F for / and %23 for #"
    );
  }
  if (url.host === "" && !url.searchParams.has("host")) {
    return "must name the host of PostgreSQL: postgres://host:port/database";
  }
  if (!/^\/[^/]+$/.test(url.pathname)) {
    return "must name a database after the host: postgres://host:port/database";
  }
  const tls = url.searchParams.get("sslmode");
  if (tls !== null && !TLS.includes(tls))
    return `must have one of these sslmodes: ${TLS.join(", ")}`;
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
