import {
  type CertificateFault,
  certificateFaultIn,
  type PresentedCertificate,
  presentedCertificate,
} from "../../core/certificate.ts";

const TIMEOUT_MS = 5_000;

type Fault = Exclude<CertificateFault, "issuer"> | "incomplete" | "authority";

/** Variable that Node reads on startup, so a value in `.env` has no effect. */
const IN_ENVIRONMENT =
  "Set it in the environment: Node reads it on startup, so not in .env. It takes effect in the bot and in the doctor.";

const remedies: Readonly<Record<"webhook" | "platform", Readonly<Record<Fault, string>>>> = {
  /** The URL where the platform delivers. The platform trusts public authorities. */
  webhook: {
    expired: "Renew the certificate, and reload the proxy.",
    early: "Check this machine's clock. If it is right, install a certificate that is valid now.",
    name: "Use one of the certificate's names in the webhook's URL, or get a certificate for this name.",
    "self-signed": "Get a certificate from a public authority, such as Let's Encrypt.",
    incomplete:
      "Configure the proxy to send the intermediate certificate, too (fullchain.pem). Browsers hide this fault.",
    authority:
      "Get a certificate from a public authority, such as Let's Encrypt. " +
      "If the platform trusts this one, run the doctor with NODE_EXTRA_CA_CERTS=ca.pem in the environment.",
  },
  platform: {
    expired: "Check this machine's clock. If it is right, the platform must renew its certificate.",
    early: "Check this machine's clock.",
    name: "Set SERVICE_BASE_URL to one of the certificate's names.",
    "self-signed": `If you trust the certificate, save it as a file, and name the file in NODE_EXTRA_CA_CERTS. ${IN_ENVIRONMENT}`,
    incomplete:
      "The platform must send the intermediate certificate, too. " +
      `Until then, save that certificate as a file, and name the file in NODE_EXTRA_CA_CERTS. ${IN_ENVIRONMENT}`,
    authority: `If you trust this authority, name the file of its certificate in NODE_EXTRA_CA_CERTS. ${IN_ENVIRONMENT}`,
  },
};

/** Explains why a certificate is rejected. Returns `undefined` if an error has another reason. */
export async function aboutCertificate(
  error: unknown,
  url: URL,
  place: keyof typeof remedies,
): Promise<{ readonly what: string; readonly remedy: string } | undefined> {
  const rejected = certificateFaultIn(error);
  if (rejected === undefined) return undefined;
  const presented = await presentedCertificate(url, TIMEOUT_MS);
  const fault =
    rejected === "issuer" ? (presented?.lacksIntermediate ? "incomplete" : "authority") : rejected;
  return { what: describe(fault, url, presented), remedy: remedies[place][fault] };
}

function describe(
  fault: Fault,
  { host }: URL,
  { names = [], issuer, validFrom, validTo }: Partial<PresentedCertificate> = {},
): string {
  const certificate = `the certificate of ${host}`;
  const by = issuer === undefined ? "" : ` (${issuer})`;
  const descriptions: Readonly<Record<Fault, string>> = {
    expired: `${certificate} has expired${on(validTo)}`,
    early: `${certificate} is not valid yet${on(validFrom, ", but from ")}`,
    name: `${certificate} is for another name${names.length === 0 ? "" : `: ${names.join(", ")}`}`,
    "self-signed": `${certificate} is self-signed, so it is not trusted`,
    incomplete: `${host} sends an incomplete certificate chain: the certificate of its issuer${by} is missing`,
    authority: `${certificate} is from an authority that Node does not know${by}`,
  };
  return descriptions[fault];
}

function on(at: number | undefined, preposition = " on "): string {
  return at === undefined || Number.isNaN(at)
    ? ""
    : preposition + new Date(at).toISOString().slice(0, 10);
}
