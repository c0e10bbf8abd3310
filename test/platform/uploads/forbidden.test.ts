import type { LookupAddress } from "node:dns";
import { expect, test } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { downloadWith } from "../../../src/platform/uploads/download.ts";
import { countConnections } from "./connections.ts";
import { imageServer } from "./image-server.ts";

/** Nothing resolves a name here but what a test says. */
function resolvesTo(...addresses: string[]) {
  return async (): Promise<LookupAddress[]> =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
}

const { signal } = new AbortController();

test.each([
  "https://127.0.0.1/",
  "https://127.1/",
  "https://127.0.1/",
  "https://127.127.127.127/",
  "https://0/",
  "https://0.0.0.0/",
  "https://00.00.00.00/",
  "https://2130706433/",
  "https://017700000001/",
  "https://0x7f000001/",
  "https://0x7f.0.0.1/",
  "https://0X7F.1/",
  "https://0177.0.0.1/",
  "https://127.0.0.1./",
  "https://127.0.0.1:8443/",
  "https://%31%32%37.0.0.1/",
  "https://１２７.０.０.１/",
  "https://①②⑦.⓪.⓪.①/",
  "https://127。0。0。1/",
  "https://10.0.0.1/",
  "https://10.1/",
  "https://0xa.0.0.1/",
  "https://167772161/",
  "https://172.16.0.1/",
  "https://192.168.1.1/",
  "https://3232235777/",
  "https://169.254.169.254/latest/meta-data/",
  "https://2852039166/",
  "https://0xa9fea9fe/",
  "https://0251.0376.0251.0376/",
  "https://100.64.0.1/",
  "https://198.18.0.1/",
  "https://224.0.0.1/",
  "https://255.255.255.255/",
  "https://[::]/",
  "https://[::1]/",
  "https://[0:0:0:0:0:0:0:1]/",
  "https://[0000::0001]/",
  "https://[::ffff:127.0.0.1]/",
  "https://[::ffff:7f00:1]/",
  "https://[::FFFF:10.0.0.1]/",
  "https://[0:0:0:0:0:ffff:a9fe:a9fe]/",
  "https://[::127.0.0.1]/",
  "https://[64:ff9b::127.0.0.1]/",
  "https://[64:ff9b::a9fe:a9fe]/",
  "https://[64:ff9b:1::10.0.0.1]/",
  "https://[2002:7f00:1::]/",
  "https://[2002:a00:1::1]/",
  "https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
  "https://[fe80::1]/",
  "https://[fc00::1]/",
  "https://[fd00:ec2::254]/",
  "https://[ff02::1]/",
  "https://user@example.org/",
  "https://user:secret@example.org/",
  "https://:secret@example.org/",
  "http://example.org/",
  "ftp://example.org/",
  "file:///etc/passwd",
  "data:image/png;base64,aGk=",
])("%s is refused before anything is opened or looked up", async (url) => {
  const opened = countConnections();
  const asked: string[] = [];
  const resolve = async (host: string) => {
    asked.push(host);
    return [];
  };
  const download = downloadWith({ clock: systemClock, resolve });
  await expect(download(url, signal)).rejects.toMatchObject({ status: 400, code: "BLOCKED_HOST" });
  expect(asked).toEqual([]);
  expect(opened.count).toBe(0);
});

test.each([
  [["127.0.0.1"]],
  [["10.0.0.1"]],
  [["169.254.169.254"]],
  [["::1"]],
  [["::ffff:127.0.0.1"]],
  [["fe80::1%lo"]],
  [["8.8.8.8", "127.0.0.1"]],
  [["2606:4700::1", "fd00::1"]],
  [[]],
])("a name that resolves to %j is refused, and nothing is opened", async (addresses) => {
  const opened = countConnections();
  const download = downloadWith({ clock: systemClock, resolve: resolvesTo(...addresses) });
  const answer = download("https://images.example/a.png", signal);
  await expect(answer).rejects.toMatchObject({ status: 400, code: "BLOCKED_HOST" });
  expect(opened.count).toBe(0);
});

test("localhost is refused by what the system resolves it to", async () => {
  const opened = countConnections();
  const download = downloadWith({ clock: systemClock });
  const answer = download("https://localhost/", signal);
  await expect(answer).rejects.toMatchObject({ code: "BLOCKED_HOST" });
  expect(opened.count).toBe(0);
});

test("the connections of an allowed download are counted", async () => {
  const server = await imageServer();
  const opened = countConnections();
  await server.download();
  expect(opened.count).toBe(1);
});

test("a name that changes its address between check and connection gains nothing", async () => {
  const answers = [["198.51.100.1"], ["127.0.0.1"]];
  const seen: string[] = [];
  const server = await imageServer();
  const opened = countConnections();
  const answer = server.download({
    resolve: async () => resolvesTo(...(answers.shift() ?? []))(),
    isAllowed: (address) => {
      seen.push(address);
      return address !== "198.51.100.1";
    },
  });
  await expect(answer).rejects.toMatchObject({ code: "BLOCKED_HOST" });
  // Resolved once: what was checked is what would have been used.
  expect(seen).toEqual(["198.51.100.1"]);
  expect(answers).toHaveLength(1);
  expect(opened.count).toBe(0);
});
