import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createServer as createTcpServer } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { presentedCertificate } from "../../faces/core.ts";
import { isInstalled } from "../../support/server-path.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { access, type Examination, examine, refusingPlatform } from "./examine.ts";
import {
  type FaultyCertificates,
  makeFaultyCertificates,
  type Served,
} from "./faulty-certificates.ts";

const REFUSAL = '{"error":{"code":"SIGNATURE_MISMATCH","message":"No."}}';

async function serve(served: Served): Promise<string> {
  const server = createServer(served, (_request, response) => {
    response.writeHead(401).end(REFUSAL);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `localhost:${(server.address() as AddressInfo).port}`;
}

/** Lets this process trust the authority until the test ends. */
function trust(authority: string): void {
  const trusted = getCACertificates("default");
  setDefaultCACertificates([...trusted, authority]);
  onTestFinished(() => setDefaultCACertificates(trusted));
}

/** Name of a certificate, whether its authority is trusted, and what the doctor says about it, without the host. */
const faults: readonly (readonly [
  served: Exclude<keyof FaultyCertificates, "authority">,
  isTrusted: boolean,
  what: string,
  remedies: { readonly webhook: RegExp; readonly platform: RegExp },
])[] = [
  [
    "expired",
    true,
    "the certificate of HOST has expired on 2021-02-03",
    { webhook: /^Renew the certificate/, platform: /clock.*must renew/ },
  ],
  [
    "early",
    true,
    "the certificate of HOST is not valid yet, but from 2048-05-06",
    { webhook: /clock/, platform: /clock/ },
  ],
  [
    "elsewhere",
    true,
    "the certificate of HOST is for another name: bot.example.org, example.org",
    { webhook: /in the webhook's URL/, platform: /^Set SERVICE_BASE_URL/ },
  ],
  [
    "selfSigned",
    false,
    "the certificate of HOST is self-signed, so it is not trusted",
    { webhook: /public authority/, platform: /NODE_EXTRA_CA_CERTS.* not in \.env/ },
  ],
  [
    "incomplete",
    true,
    "HOST sends an incomplete certificate chain: the certificate of its issuer (service-bot test intermediate) is missing",
    { webhook: /fullchain\.pem/, platform: /must send the intermediate/ },
  ],
  [
    "chained",
    false,
    "the certificate of HOST is from an authority that Node does not know (service-bot test authority)",
    { webhook: /public authority.*NODE_EXTRA_CA_CERTS/, platform: /^If you trust this authority/ },
  ],
  [
    "valid",
    false,
    "the certificate of HOST is from an authority that Node does not know (service-bot test authority)",
    { webhook: /public authority.*NODE_EXTRA_CA_CERTS/, platform: /^If you trust this authority/ },
  ],
];

describe.skipIf(!isInstalled(["openssl", "version"]))("a certificate", () => {
  let made: FaultyCertificates | undefined;
  const certificates = () => (made ??= makeFaultyCertificates(temporaryFolder()));
  const of = ({ findings }: Examination, area: string) =>
    findings.filter((finding) => finding.area === area);

  test.each(faults)("that is %s is explained (authority trusted: %s)", async (...given) => {
    const [name, isTrusted, what, remedies] = given;
    if (isTrusted) trust(certificates().authority);
    const host = await serve(certificates()[name]);
    const expected = { level: "fail", what: what.replace("HOST", host) };

    const env = { ...(await refusingPlatform()), DELIVERY: "polling" };
    const flags = ["--webhook", `https://${host}/webhook`];
    expect(of(await examine(env, { flags }), "webhook")[0]).toMatchObject({
      ...expected,
      remedy: expect.stringMatching(remedies.webhook),
    });

    const examined = await examine({ ...access({ url: `https://${host}` }), DELIVERY: "polling" });
    expect(of(examined, "platform")).toEqual([
      { area: "platform", ...expected, remedy: expect.stringMatching(remedies.platform) },
    ]);
  });

  test.each(["valid", "chained"] as const)("that is %s and trusted is well", async (name) => {
    trust(certificates().authority);
    const flags = ["--webhook", `https://${await serve(certificates()[name])}/webhook`];
    const env = { ...(await refusingPlatform()), DELIVERY: "polling" };
    expect(of(await examine(env, { flags }), "webhook")[0]).toMatchObject({ level: "ok" });
  });

  test("is read without trust, and without a name for an address", async () => {
    const { port } = new URL(`https://${await serve(certificates().expired)}`);
    expect(await presentedCertificate(new URL(`https://127.0.0.1:${port}`), 5_000)).toEqual({
      names: ["localhost", "127.0.0.1", "0:0:0:0:0:0:0:1"],
      issuer: "service-bot test authority",
      validFrom: Date.UTC(2020, 0, 1),
      validTo: Date.UTC(2021, 1, 3),
      lacksIntermediate: false,
    });
  });

  test("of a server that does not answer is given up", async () => {
    const server = createTcpServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const url = new URL(`https://127.0.0.1:${port}`);
    expect(await presentedCertificate(url, 50)).toBeUndefined();
    expect(await presentedCertificate(new URL("https://127.0.0.1:2"), 5_000)).toBeUndefined();
  });
});
