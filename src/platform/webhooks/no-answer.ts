import { certificateFaultIn } from "../../core/certificate.ts";
import { hasCode, messageOf } from "../../errors.ts";

export function whyNoAnswer(error: unknown, url: URL): string {
  if (hasCode(error, "ECONNREFUSED")) {
    const tried = addresses(error);
    const also = tried.length > 1 ? ` (tried ${tried.join(" and ")})` : "";
    return `nothing is listening on ${url.host}${also}; is the bot running?`;
  }
  const certificate = `the certificate of ${url.host}`;
  const fault = certificateFaultIn(error);
  if (fault === "issuer" || fault === "self-signed") {
    // Node's own message recommends --use-system-ca, which rarely helps here.
    const reason = messageOf(error).split(";", 1)[0];
    return (
      `${certificate} is not trusted (${reason}); for your own CA, start the platform with ` +
      "NODE_EXTRA_CA_CERTS=file.pem; otherwise the server may send an incomplete chain"
    );
  }
  if (fault === "name") {
    const names = "reason" in Object(error) ? ` (${Object(error).reason})` : "";
    return `${certificate} is for a different host name${names}; use one of the certificate's names in the webhook's URL`;
  }
  if (fault === "expired") return `${certificate} has expired; renew it, or check the clock`;
  if (fault === "early") return `${certificate} is not valid yet; check the clock`;
  if (hasCode(error, "EPROTO")) {
    const message = messageOf(error);
    const [, reason = message] = message.split("SSL routines:", 2).at(1)?.split(":", 2) ?? [];
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
