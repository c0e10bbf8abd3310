import type { Bundled } from "../pack/bundled.ts";
import { installedBytes } from "./tree.ts";

interface Group {
  readonly title: string;
  readonly packages: readonly string[];
  readonly reason: string;
}

/** Reasons to bundle a package instead of installing it with service-bot. */
const groups: readonly Group[] = [
  {
    title: "MCP SDK",
    packages: ["@modelcontextprotocol/core", "@modelcontextprotocol/server"],
    reason:
      "Only `service-bot mcp` and the local platform's `/mcp` load it. npm audit would not see the packages that the SDK has bundled itself.",
  },
  {
    title: "portal",
    packages: ["@knadh/oat", "@preact/signals", "@preact/signals-core", "preact"],
    reason: "Only browsers load it, from the local platform.",
  },
];

/** Packages whose code is copied. They cannot be installed instead. */
const copied: readonly string[] = ["lucide"];

export interface BundledGroup extends Group {
  /** Bytes of code in the package, before whitespace is removed. */
  readonly bundledBytes: number;
  /** Bytes on disk if a bot installed the packages. */
  readonly installedBytes: number;
}

/** @throws {Error} if a bundled package has no reason, or if a package with a reason is not bundled */
export function bundledGroups(bundled: readonly Bundled[]): readonly BundledGroup[] {
  const explained = [...groups.flatMap(({ packages }) => packages), ...copied];
  const names = bundled.map(({ name }) => name);
  for (const name of new Set([...names, ...explained])) {
    if (!explained.includes(name) || !names.includes(name)) {
      throw new Error(`scripts/dependencies/bundled.ts and the package disagree about ${name}.`);
    }
  }
  return groups.map((group) => {
    const installed = bundled
      .filter(({ name }) => group.packages.includes(name))
      .flatMap(({ installed }) => installed ?? []);
    return {
      ...group,
      bundledBytes: sum(installed.map(({ bytes }) => bytes)),
      installedBytes: sum(installed.map(({ folder }) => installedBytes(folder))),
    };
  });
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0);
}
