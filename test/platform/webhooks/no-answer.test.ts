import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { whyNoAnswer } from "../../faces/platform.ts";
import { runPlatform } from "../support/platform.ts";
import { deliverNew } from "../support/receiver.ts";

const url = new URL("https://bot.example.org:8443/webhook");

const failures: readonly [code: string, message: string, told: string][] = [
  [
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "unable to verify the first certificate; if the root CA is installed locally, try …",
    "the certificate of bot.example.org:8443 is not trusted (unable to verify the first certificate); " +
      "for your own CA, start the platform with NODE_EXTRA_CA_CERTS=file.pem; " +
      "otherwise the server may send an incomplete chain",
  ],
  [
    "CERT_HAS_EXPIRED",
    "certificate has expired",
    "the certificate of bot.example.org:8443 has expired; renew it, or check the clock",
  ],
  [
    "CERT_NOT_YET_VALID",
    "certificate is not yet valid",
    "the certificate of bot.example.org:8443 is not valid yet; check the clock",
  ],
  ["ENOTFOUND", "getaddrinfo ENOTFOUND bot.example.org", "getaddrinfo ENOTFOUND bot.example.org"],
];

test.each(failures)("%s is reported with its remedy, if there is one", (code, message, told) => {
  expect(whyNoAnswer(Object.assign(new Error(message), { code }), url)).toBe(told);
});

test("an https webhook on a port without TLS fails with the reason", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  // The name localhost would also try ::1, where another process may be listening.
  const platform = await runPlatform();
  platform.control.saveWebhook({ url: `https://127.0.0.1:${port}/` });
  const { status, error } = await deliverNew(platform);
  expect({ status, error }).toEqual({
    status: null,
    error: `127.0.0.1:${port} failed the TLS handshake (wrong version number); is this the https port?`,
  });
});
