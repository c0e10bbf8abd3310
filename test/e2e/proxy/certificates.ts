import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** A temporary certificate authority, and the certificates it has signed. */
export interface Certificates {
  readonly authority: Certificate;
  /** Issued for `localhost` and 127.0.0.1. */
  readonly localhost: Certificate;
  /** Issued for a host name other than the requested one. */
  readonly elsewhere: Certificate;
}

const CONFIG = `
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
[localhost]
subjectAltName = DNS:localhost, IP:127.0.0.1
[elsewhere]
subjectAltName = DNS:bot.example.org
`;

export const NEW_KEY: readonly string[] = [
  "-newkey",
  "ec",
  "-pkeyopt",
  "ec_paramgen_curve:prime256v1",
  "-nodes",
];

export function makeCertificates(parent: string): Certificates {
  const folder = join(parent, "certificates");
  mkdirSync(folder);
  const config = join(folder, "openssl.cnf");
  writeFileSync(config, CONFIG);
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "pipe" });
  const files = (name: string): Certificate => ({
    cert: join(folder, `${name}.pem`),
    key: join(folder, `${name}.key`),
  });

  const request = (name: string, key: string): string[] => {
    const subject = ["-subj", `/CN=service-bot test ${name}`];
    return ["req", "-config", config, ...NEW_KEY, ...subject, "-keyout", key];
  };
  const authority = files("authority");
  // Longer than the 7 days for which Caddy signs certificates with this authority.
  const itself = ["-x509", "-extensions", "authority", "-days", "30", "-out", authority.cert];
  openssl(...request("authority", authority.key), ...itself);

  const signed = (name: "localhost" | "elsewhere"): Certificate => {
    const { cert, key } = files(name);
    const wish = join(folder, `${name}.csr`);
    openssl(...request(name, key), "-out", wish);
    const signer = ["-CA", authority.cert, "-CAkey", authority.key, "-CAcreateserial"];
    const extensions = ["-extfile", config, "-extensions", name];
    openssl("x509", "-req", "-in", wish, ...signer, ...extensions, "-days", "1", "-out", cert);
    return { cert, key };
  };
  return { authority, localhost: signed("localhost"), elsewhere: signed("elsewhere") };
}
