import { hasCode, messageOf } from "../../errors.ts";

/** OpenSSL and Node error codes for a certificate without a trusted authority. */
const untrusted = [
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
];

const expired = ["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"];

export function whyNoAnswer(error: unknown, url: URL): string {
  const code = (...codes: readonly string[]) => codes.some((one) => hasCode(error, one));
  if (code("ECONNREFUSED")) {
    const tried = addresses(error);
    const also = tried.length > 1 ? ` (tried ${tried.join(" and ")})` : "";
    return `nothing is listening on ${url.host}${also}; is the bot running?`;
  }
  const certificate = `the certificate of ${url.host}`;
  if (code(...untrusted)) {
    // Node's own message recommends --use-system-ca, which rarely helps here.
    const reason = messageOf(error).split(";", 1)[0];
    return (
      `${certificate} is not trusted (${reason}); for your own CA, start the platform with ` +
      "NODE_EXTRA_CA_CERTS=file.pem; otherwise the server may send an incomplete chain"
    );
  }
  if (code("ERR_TLS_CERT_ALTNAME_INVALID")) {
    const names = "reason" in Object(error) ? ` (${Object(error).reason})` : "";
    return `${certificate} is for a different host name${names}; use one of the certificate's names in the webhook's URL`;
  }
  if (code(...expired))
    return `${certificate} has expired or is not valid yet (${messageOf(error)}); renew it`;
  if (code("EPROTO")) {
    const [, reason = messageOf(error)] = /SSL routines:[^:]*:([^:]+)/.exec(messageOf(error)) ?? [];
    return `${url.host} failed the TLS handshake (${reason}); is this the https port?`;
  }
  return messageOf(error);
}

/** Returns every address that was tried. For a host name with several addresses, Node reports one error per address. */
function addresses(error: unknown): string[] {
  if (!(error instanceof AggregateError)) return [];
  return error.errors.flatMap((one: unknown) =>
    one instanceof Error && "address" in one ? [String(one.address)] : [],
  );
}
