import { promises as dns, type LookupAddress } from "node:dns";
import { request as httpsRequest } from "node:https";
import { expect, test } from "vitest";
import { systemClock } from "../../faces/core.ts";
import { downloadWith, type Open } from "../../faces/platform.ts";
import { countConnections } from "./connections.ts";
import { imageServer } from "./image-server.ts";

function resolvesTo(...addresses: string[]) {
  return async (): Promise<LookupAddress[]> =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
}

const { signal } = new AbortController();

/** Hosts that an upload must not reach, with every spelling of each address and local name. */
const forbidden: Readonly<Record<string, readonly string[]>> = {
  loopback: [
    ...["127.0.0.1", "127.127.127.127", "127.255.255.254", "127.1", "127.0.1", "127.0.0.1."],
    ...["2130706433", "017700000001", "0177.0.0.1", "0177.1", "00000177.0.0.1"],
    ...["0x7f000001", "0X7F000001", "0x7f.0.0.1", "0x7f.1", "0x7f.0x0.0x0.0x1", "0x7f.0.1"],
    ...["0177.0x0.0.1", "127.0x1", "127.00.000.01", "127.0.0.1..", "127.0.0.1:8443", "127.1:443"],
    ...["%31%32%37.0.0.1", "127%2e0%2e0%2e1", "%30%78%37%66.1", "１２７.０.０.１", "127。0。0。1"],
    ...["127．0．0．1", "①②⑦.⓪.⓪.①", "𝟏𝟐𝟕.𝟎.𝟎.𝟏", "127.0.0.\u00ad1", "[::1]", "[::1]:8443"],
    ...["[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::0.0.0.1]"],
  ],
  "this network": ["0", "0.0.0.0", "00.00.00.00", "0x0", "0.1.2.3", "[::]", "[0:0::0]"],
  private: [
    ...["10.0.0.1", "10.1", "10.255.255.255", "0xa.0.0.1", "012.0.0.1", "167772161", "0x0a000001"],
    ...["172.16.0.1", "172.31.255.255", "0xac.16.1", "2886729729", "192.168.1.1", "192.168.1"],
    ...["3232235777", "0xc0a80101", "0300.0250.1.1", "0300.0xa8.257", "192.168.257"],
  ],
  "link-local, and the metadata of clouds": [
    ...["169.254.169.254", "169.254.43518", "2852039166", "0xa9fea9fe", "0xA9.0xFE.0xA9.0xFE"],
    ...["0251.0376.0251.0376", "0251.254.43518", "０ｘa9fea9fe", "169.254.170.2", "169.254.0.1"],
    ...["100.100.100.200", "0x646464c8", "192.0.0.192", "168.63.129.16"],
    ...["[fd00:ec2::254]", "[fe80::1]", "[fe80::a9fe:a9fe]", "[febf::1]", "[fe80::1%25eth0]"],
    ...["[fe80::1%eth0]", "metadata.google.internal", "metadata.google.internal."],
  ],
  "shared, documentation, benchmarks, reserved": [
    ...["100.64.0.1", "100.127.255.255", "1681915905", "192.0.2.1", "198.51.100.7", "203.0.113.9"],
    ...["198.18.0.1", "198.19.255.255", "192.88.99.1", "240.0.0.1", "0xf0000001"],
    ...["[2001:db8::1]", "[3fff::1]", "[2001:2::1]", "[100::1]", "[5f00::1]"],
  ],
  "multicast and broadcast": [
    ...[
      "224.0.0.1",
      "239.255.255.250",
      "0xe0000001",
      "255.255.255.255",
      "4294967295",
      "0xffffffff",
    ],
    ...["[ff02::1]", "[ff05::1:3]"],
  ],
  "private and site-local IPv6": ["[fc00::1]", "[fd12:3456::1]", "[fec0::1]", "[feff::1]"],
  "IPv4 inside of IPv6": [
    ...["[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::FFFF:10.0.0.1]", "[0:0:0:0:0:ffff:a9fe:a9fe]"],
    ...["[::ffff:8.8.8.8]", "[::ffff:0:127.0.0.1]", "[::127.0.0.1]", "[::7f00:1]", "[::a9fe:a9fe]"],
    ...["[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::10.0.0.1]"],
    ...["[2002:7f00:1::]", "[2002:a00:1::1]", "[2002:a9fe:a9fe::1]"],
    ...["[2001:0:4136:e378:8000:63bf:3fff:fdd2]", "[2001::1]"],
    ...["[2606:4700::5efe:127.0.0.1]", "[2606:4700::200:5efe:a00:1]", "[fe80::5efe:192.168.1.1]"],
  ],
  "names of this machine and its network": [
    ...["localhost", "LOCALHOST", "localhost.", "localhost..", "foo.localhost", "foo.localhost."],
    ...["localhost:8443", "loc%61lhost", "ｌｏｃａｌｈｏｓｔ", "localhost.localdomain"],
    ...["localhost6.localdomain6", "ip6-localhost", "ip6-loopback", "printer.local", "redis"],
  ],
};

const spellings = Object.entries(forbidden).flatMap(([what, hosts]) =>
  hosts.map((host) => [`https://${host}/a.png`, what] as const),
);

test("the table has the expected length, and no duplicates", () => {
  const addresses = spellings.filter(([, what]) => !what.startsWith("names"));
  expect(addresses.length).toBeGreaterThanOrEqual(120);
  expect(new Set(spellings.map(([url]) => url)).size).toBe(spellings.length);
});

const otherwise: readonly (readonly [url: string, what: string])[] = [
  ["https://user@example.org/", "a user name"],
  ["https://user:secret@example.org/", "a password"],
  ["https://:secret@example.org/", "a password"],
  ["https://example.org@127.0.0.1/", "a name before the address"],
  ["https:\\\\127.0.0.1\\a.png", "backslashes"],
  ["https:127.0.0.1/a.png", "no slashes"],
  ["ht\ntps://127.0.0.1/", "a line break"],
  [" https://127.0.0.1/", "a space"],
  ["https://1.2.3.4.5/", "too many numbers"],
  ["https://256.0.0.1/", "a number that is too large"],
  ["https://[::1/", "half an address"],
  ["https://", "no host"],
  ["https://exa mple.org/", "a host that is none"],
  ["http://example.org/", "http"],
  ["ftp://example.org/", "ftp"],
  ["file:///etc/passwd", "a file"],
  ["data:image/png;base64,aGk=", "data"],
];

test.each([...spellings, ...otherwise])(
  "%s is rejected before any connection or lookup: %s",
  async (url) => {
    const opened = countConnections();
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return [];
    };
    const download = downloadWith({ clock: systemClock, resolve });
    await expect(download(url, signal)).rejects.toMatchObject({
      status: 400,
      code: "BLOCKED_HOST",
    });
    expect(asked).toEqual([]);
    expect(opened.count).toBe(0);
  },
);

test("a public name is looked up, and a public address is not", async () => {
  const asked: string[] = [];
  const resolve = async (host: string) => {
    asked.push(host);
    return [];
  };
  const opened: string[] = [];
  const open: Open = (url, options, onResponse) => {
    opened.push(url.hostname);
    // No server is listening on port 9, so the test never leaves this machine.
    return httpsRequest("https://127.0.0.1:9/", options, onResponse);
  };
  const byName = downloadWith({ clock: systemClock, resolve });
  await expect(byName("https://Images.Example/a.png", signal)).rejects.toThrow("has no address");
  expect(asked).toEqual(["images.example"]);
  const byAddress = downloadWith({ clock: systemClock, resolve, open });
  await expect(byAddress("https://134744072/a.png", signal)).rejects.toThrow();
  expect(opened).toEqual(["8.8.8.8"]);
  expect(asked).toEqual(["images.example"]);
});

test.each([
  [["127.0.0.1"]],
  [["10.0.0.1"]],
  [["169.254.169.254"]],
  [["::1"]],
  [["::ffff:127.0.0.1"]],
  [["fe80::1%lo"]],
  [["fd00:ec2::254"]],
  [["64:ff9b::7f00:1"]],
  [["2002:7f00:1::"]],
  [["2606:4700::5efe:7f00:1"]],
  [["8.8.8.8", "127.0.0.1"]],
  [["2606:4700::1", "fd00::1"]],
  [[]],
])("a name that resolves to %j is rejected, and no connection is opened", async (addresses) => {
  const opened = countConnections();
  const download = downloadWith({ clock: systemClock, resolve: resolvesTo(...addresses) });
  const answer = download("https://images.example/a.png", signal);
  await expect(answer).rejects.toMatchObject({ status: 400, code: "BLOCKED_HOST" });
  expect(opened.count).toBe(0);
});

test("an allowed download's connections and lookups are counted", async () => {
  const server = await imageServer();
  const opened = countConnections();
  await server.download();
  expect(opened).toEqual({ count: 1, lookups: 0 });
  await dns.lookup("localhost");
  expect(opened).toEqual({ count: 1, lookups: 1 });
});

test("a host that changes its address after the check is reached at the checked address", async () => {
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
  // There is a single lookup, so the address that was checked is the address in use.
  expect(seen).toEqual(["198.51.100.1"]);
  expect(answers).toHaveLength(1);
  expect(opened.count).toBe(0);
});
