import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NEW_KEY } from "../../e2e/proxy/certificates.ts";

/** A certificate in PEM, with the chain as a server sends it. */
export interface Served {
  readonly cert: string;
  readonly key: string;
}

export interface FaultyCertificates {
  /** Certificate of the authority that has issued the others. */
  readonly authority: string;
  readonly valid: Served;
  readonly expired: Served;
  readonly early: Served;
  readonly elsewhere: Served;
  readonly selfSigned: Served;
  /** With its intermediate certificate. */
  readonly chained: Served;
  /** Without its intermediate certificate, whose address it names, as certificates of public authorities do. */
  readonly incomplete: Served;
}

const LOCALHOST = "DNS:localhost, IP:127.0.0.1, IP:::1";

const CONFIG = (folder: string) => `
[ca]
default_ca = issuing
[issuing]
database = ${folder}/index.txt
new_certs_dir = ${folder}
policy = names
default_md = sha256
rand_serial = yes
unique_subject = no
default_days = 1
[names]
commonName = supplied
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
[localhost]
subjectAltName = ${LOCALHOST}
[elsewhere]
subjectAltName = DNS:bot.example.org, DNS:example.org
[addressed]
subjectAltName = ${LOCALHOST}
authorityInfoAccess = caIssuers;URI:http://ca.example.org/intermediate.der
`;

/** Issues certificates for `localhost` that a client rejects, each for one reason. */
export function makeFaultyCertificates(folder: string): FaultyCertificates {
  const config = join(folder, "openssl.cnf");
  writeFileSync(config, CONFIG(folder));
  writeFileSync(join(folder, "index.txt"), "");
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "pipe" });
  const file = (name: string) => join(folder, name);
  const read = (name: string) => readFileSync(file(name), "utf8");

  const create = (name: string, ...more: string[]) => {
    const subject = ["-subj", `/CN=service-bot test ${name}`];
    openssl(
      "req",
      "-config",
      config,
      ...NEW_KEY,
      ...subject,
      "-keyout",
      file(`${name}.key`),
      ...more,
    );
  };
  const createOwn = (name: string, extensions: string) =>
    create(name, "-x509", "-extensions", extensions, "-out", file(`${name}.pem`));
  const issue = (name: string, extensions: string, issuer: string, ...dates: string[]): Served => {
    create(name, "-out", file(`${name}.csr`));
    const signer = ["-cert", file(`${issuer}.pem`), "-keyfile", file(`${issuer}.key`)];
    const files = ["-in", file(`${name}.csr`), "-out", file(`${name}.pem`)];
    openssl(
      "ca",
      "-config",
      config,
      "-batch",
      "-notext",
      ...signer,
      "-extensions",
      extensions,
      ...files,
      ...dates,
    );
    return served(name);
  };
  const served = (name: string): Served => ({
    cert: read(`${name}.pem`),
    key: read(`${name}.key`),
  });

  createOwn("authority", "authority");
  createOwn("self-signed", "localhost");
  const { cert: intermediate } = issue("intermediate", "authority", "authority");
  const incomplete = issue("incomplete", "addressed", "intermediate");
  const from = ["-startdate", "20200101000000Z"];
  return {
    authority: read("authority.pem"),
    valid: issue("valid", "localhost", "authority"),
    expired: issue("expired", "localhost", "authority", ...from, "-enddate", "20210203000000Z"),
    early: issue(
      "early",
      "localhost",
      "authority",
      "-startdate",
      "20480506000000Z",
      "-enddate",
      "20490101000000Z",
    ),
    elsewhere: issue("elsewhere", "elsewhere", "authority"),
    selfSigned: served("self-signed"),
    chained: { ...incomplete, cert: incomplete.cert + intermediate },
    incomplete,
  };
}
