import type { Packed } from "./stage.ts";

/** How large a package may be: in the tarball, on the disk, and in files. */
type Limit = Pick<Packed, "packedBytes" | "unpackedBytes" | "files">;

/** Some room above what there is, so that what slips in by accident is noticed. */
const limits: Readonly<Record<string, Limit>> = {
  "service-bot": { packedBytes: 700_000, unpackedBytes: 2_900_000, files: 310 },
  // Before the first file of a bot is written, all of this is downloaded.
  "create-service-bot": { packedBytes: 200_000, unpackedBytes: 1_000_000, files: 100 },
};

/** @throws {Error} names every measure that is above its limit */
export function refuseTooLarge(packed: Packed): void {
  const limit = limits[packed.name];
  if (limit === undefined) throw new Error(`scripts/pack/size.ts has no limit for ${packed.name}.`);
  const above = measures.filter((measure) => packed[measure] > limit[measure]);
  if (above.length === 0) return;
  const words = above.map((measure) => `${measure} ${packed[measure]} of ${limit[measure]}`);
  throw new Error(
    `${packed.name} is larger than it may be: ${words.join(", ")}.\n` +
      "Look what came into it (tar tzf); if it belongs there, raise the limit in scripts/pack/size.ts.",
  );
}

const measures = ["packedBytes", "unpackedBytes", "files"] as const;

/** A line for each package: sizes in kB of 1,000 bytes. */
export function sizeTable(packages: readonly Packed[]): string {
  return packages
    .map(({ name, version, packedBytes, unpackedBytes, files }) => {
      const [packed, unpacked] = [packedBytes, unpackedBytes].map(kilobytes);
      return `${`${name} ${version}`.padEnd(26)} ${packed} packed, ${unpacked} unpacked, ${files} files`;
    })
    .join("\n");
}

function kilobytes(bytes: number): string {
  return `${Math.ceil(bytes / 1000)} kB`.padStart(7);
}
