import { isIP } from "node:net";
import { connect, type DetailedPeerCertificate, type TLSSocket } from "node:tls";
import { causesOf, codeOf } from "../errors.ts";

/**
 * Reason why a server's certificate is rejected. `issuer`: no trusted authority has signed it, or the server sends an
 * incomplete chain.
 */
export type CertificateFault = "expired" | "early" | "name" | "self-signed" | "issuer";

/** OpenSSL and Node error codes. */
const faults: Readonly<Record<string, CertificateFault>> = {
  CERT_HAS_EXPIRED: "expired",
  CERT_NOT_YET_VALID: "early",
  ERR_TLS_CERT_ALTNAME_INVALID: "name",
  DEPTH_ZERO_SELF_SIGNED_CERT: "self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "issuer",
  UNABLE_TO_GET_ISSUER_CERT: "issuer",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "issuer",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "issuer",
};

export function certificateFaultOf(code: string): CertificateFault | undefined {
  return Object.hasOwn(faults, code) ? faults[code] : undefined;
}

/** Returns the certificate's fault behind an error. `fetch` reports it as a cause, and possibly once per IP address. */
export function certificateFaultIn(error: unknown): CertificateFault | undefined {
  for (const at of causesOf(error)) {
    const fault = certificateFaultOf(codeOf(at));
    if (fault !== undefined) return fault;
    if (at instanceof AggregateError) return at.errors.map(certificateFaultIn).find(Boolean);
  }
  return undefined;
}

/** A certificate as the server presents it, whether trusted or not. */
export interface PresentedCertificate {
  readonly names: readonly string[];
  /** Name of the authority that signed the last certificate of the chain. */
  readonly issuer: string;
  /** In ms since 1970. */
  readonly validFrom: number;
  readonly validTo: number;
  /**
   * Whether the server sends only its own certificate, which names the address of its issuer's certificate. Public
   * authorities sign with an intermediate certificate, so that one is missing.
   */
  readonly lacksIntermediate: boolean;
}

/** Reads a server's certificate. Sends no request. Returns `undefined` if the handshake does not end in time. */
export async function presentedCertificate(
  { hostname, port }: URL,
  timeoutMs: number,
): Promise<PresentedCertificate | undefined> {
  const host = hostname.replace(/^\[|\]$/g, "");
  const { promise, resolve } = Promise.withResolvers<PresentedCertificate | undefined>();
  const socket = connect({
    host,
    port: port === "" ? 443 : Number(port),
    ...(isIP(host) === 0 && { servername: host }),
    // Otherwise, the rejected certificate could not be read. The connection carries no data.
    rejectUnauthorized: false,
  });
  socket.once("secureConnect", () => resolve(readCertificate(socket)));
  socket.once("error", () => resolve(undefined));
  socket.once("close", () => resolve(undefined));
  const timer = setTimeout(() => resolve(undefined), timeoutMs);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.on("error", () => undefined).destroy();
  }
}

function readCertificate(socket: TLSSocket): PresentedCertificate | undefined {
  const own = socket.getPeerCertificate(true);
  if (own.valid_to === undefined) return undefined;
  const chain = [own];
  for (let at = own.issuerCertificate; at !== undefined && !chain.includes(at); ) {
    chain.push(at);
    at = at.issuerCertificate;
  }
  const last = chain.at(-1) ?? own;
  return {
    names: namesOf(own),
    issuer: nameOf(last.issuer),
    validFrom: Date.parse(own.valid_from),
    validTo: Date.parse(own.valid_to),
    lacksIntermediate: chain.length === 1 && hasIssuerAddress(own),
  };
}

function namesOf({ subjectaltname = "" }: DetailedPeerCertificate): string[] {
  return subjectaltname
    .split(", ")
    .flatMap((name) => /^(?:DNS|IP Address):(.+)$/.exec(name)?.[1] ?? []);
}

/** A name may have several values of each kind. */
function nameOf(subject: DetailedPeerCertificate["issuer"] | undefined): string {
  const { CN, O, OU }: Record<string, string | string[] | undefined> = { ...subject };
  const [name] = [CN ?? O ?? OU ?? []].flat();
  return name ?? "an authority without a name";
}

function hasIssuerAddress({ infoAccess }: DetailedPeerCertificate): boolean {
  return (infoAccess?.["CA Issuers - URI"] ?? []).some((address) => /^https?:/i.test(address));
}
