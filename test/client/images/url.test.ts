import { describe, expect, test } from "vitest";
import { checkImageUrl } from "../../faces/client.ts";
import { refusal } from "./refusal.ts";

const localHosts = [
  // names
  ..."localhost LOCALHOST localhost. a.localhost a.localhost. printer.local metadata.google.internal".split(
    " ",
  ),
  ..."router.lan wiki.intranet dc.corp nas.home box.home.arpa intranet redis db. router%2elan".split(
    " ",
  ),
  // loopback
  ..."127.0.0.1 127.0.0.1. 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0177.0.0.1 017700000001".split(
    " ",
  ),
  ..."127.255.255.254 0x7f.0x0.0x0.0x1 127。0。0。1 １２７.0.0.1 %31%32%37.0.0.1 ①②⑦.0.0.1".split(
    " ",
  ),
  // unspecified, private, link-local, shared
  ..."0 0.0.0.0 0.1.2.3 10.0.0.1 10.1 167772161 0xa.1 012.0.0.1 172.16.0.1 172.31.255.255".split(
    " ",
  ),
  ..."192.168.0.1 192.168.1 3232235521 0xc0a80001 169.254.169.254 0xa9fea9fe 2852039166".split(" "),
  ..."0251.0376.0251.0376 100.64.0.1 100.127.255.255".split(" "),
  // reserved, documentation, benchmarks, multicast, broadcast
  ..."192.0.0.8 192.0.2.1 198.18.0.1 198.51.100.7 203.0.113.9 192.88.99.1 224.0.0.1 240.0.0.1".split(
    " ",
  ),
  "255.255.255.255",
  // names of this machine, with dots that change nothing
  ..."localhost.. 127.0.0.1.. localhost.localdomain".split(" "),
  // IPv6
  ..."[::1] [0:0:0:0:0:0:0:1] [::] [fe80::1] [febf::1] [fec0::1] [fc00::1] [fd12:3456::1]".split(
    " ",
  ),
  ..."[ff02::1] [2001:db8::1] [100::1] [3fff::1] [5f00::1]".split(" "),
  // IPv6 with an IPv4 address inside: mapped, compatible, NAT64, 6to4, Teredo
  ..."[::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:10.0.0.1] [0:0:0:0:0:ffff:a9fe:a9fe]".split(" "),
  ..."[::ffff:8.8.8.8] [::127.0.0.1] [::7f00:1] [64:ff9b::127.0.0.1] [64:ff9b::a9fe:a9fe]".split(
    " ",
  ),
  ..."[64:ff9b:1::10.0.0.1] [2002:7f00:1::] [2002:c0a8:1::1] [2001::1] [::ffff:0:127.0.0.1]".split(
    " ",
  ),
];

describe("BLOCKED_HOST before anything is sent", () => {
  test("the table is as large as it says", () => {
    expect(new Set(localHosts).size).toBe(localHosts.length);
    expect(localHosts.length).toBeGreaterThanOrEqual(80);
  });

  test.each(localHosts)("https://%s", async (host) => {
    for (const url of [`https://${host}/a.png`, `HTTPS://${host}:8443/a.png?x=1`]) {
      const error = await refusal(() => checkImageUrl(url));
      expect(error, url).toMatchObject({ code: "BLOCKED_HOST", platformCode: "BLOCKED_HOST" });
      expect(error.message).toMatch(/not on the public internet|is not a URL/);
    }
  });

  test.each([
    "http://images.example/a.png",
    "HTTP://images.example/a.png",
    "ftp://images.example/a.png",
    "file:///etc/passwd",
    "data:image/png;base64,AAAA",
    "blob:https://images.example/1",
    "javascript:alert(1)",
  ])("%s, which is not https", async (url) => {
    const error = await refusal(() => checkImageUrl(url));
    expect(error.platformCode).toBe("BLOCKED_HOST");
    expect(error.message).toContain("by https alone");
  });

  test.each(["", "https://", "https://a b/", "https://[::1", "//images.example/a.png", "a.png"])(
    "%j, which is no address",
    async (url) => {
      expect((await refusal(() => checkImageUrl(url))).platformCode).toBe("BLOCKED_HOST");
    },
  );

  test.each([
    "https://ada:hunter22@images.example/a.png",
    "https://ada@images.example/a.png",
    "https://:hunter22@images.example/a.png",
    "https://ada:hunter22@127.0.0.1/a.png",
    "https://images.example:hunter22@127.0.0.1/a.png",
  ])("%s, which has credentials, and they are not repeated", async (url) => {
    const error = await refusal(() => checkImageUrl(url));
    expect(error.platformCode).toBe("BLOCKED_HOST");
    expect(error.message).not.toContain("hunter22");
    expect(error.message).not.toContain("ada");
  });

  test("the query, which may be a signature, is not repeated", async () => {
    const { message } = await refusal(() => checkImageUrl("https://10.0.0.1/a.png?sig=hunter22"));
    expect(message).not.toContain("hunter22");
  });
});

describe("what passes", () => {
  test.each([
    ["https://images.example/a.png", "https://images.example/a.png"],
    ["HTTPS://Images.Example/A.png?w=1#x", "https://images.example/A.png?w=1#x"],
    ["https://images.example:8443/", "https://images.example:8443/"],
    ["https://images.example./a", "https://images.example./a"],
    ["https://bücher.example/ä.png", "https://xn--bcher-kva.example/%C3%A4.png"],
    ["https://localhost.example/a", "https://localhost.example/a"],
    ["https://local.example/a", "https://local.example/a"],
    ["https://my-internal.com/b/../a", "https://my-internal.com/a"],
    ["https://8.8.8.8/a", "https://8.8.8.8/a"],
    ["https://134744072/a", "https://8.8.8.8/a"],
    ["https://172.32.0.1/a", "https://172.32.0.1/a"],
    ["https://100.128.0.1/a", "https://100.128.0.1/a"],
    ["https://11.0.0.1/a", "https://11.0.0.1/a"],
    ["https://[2606:4700::1111]/a", "https://[2606:4700::1111]/a"],
    ["https://[2001:4860:4860::8888]/a", "https://[2001:4860:4860::8888]/a"],
    [
      "https://images.example/a?next=http://127.0.0.1/",
      "https://images.example/a?next=http://127.0.0.1/",
    ],
    ["https://images.example/@10.0.0.1", "https://images.example/@10.0.0.1"],
  ])("%s", (url, normal) => {
    expect(checkImageUrl(url)).toBe(normal);
    expect(checkImageUrl(new URL(url))).toBe(normal);
  });
});
