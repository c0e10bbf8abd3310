import type { Dependency } from "./tree.ts";

/** Slightly above the current size, so that a new dependency fails the check. */
export const limits: { readonly packages: number; readonly bytes: number } = {
  packages: 95,
  bytes: 43_000_000,
};

/** Permissive licences. They only require their text to be kept with the code. */
export const allowedLicences: readonly string[] = [
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "ISC",
  "MIT",
];

export function complaints(tree: readonly Dependency[]): string[] {
  const bytes = totalBytes(tree);
  const named = ({ name, version }: Dependency) => `${name} ${version}`;
  return [
    ...(tree.length > limits.packages ? [`${tree.length} packages of ${limits.packages}`] : []),
    ...(bytes > limits.bytes ? [`${bytes} bytes of ${limits.bytes}`] : []),
    ...tree
      .filter(({ license }) => !allowedLicences.includes(license))
      .map((each) => `${named(each)} has the licence ${each.license}`),
    ...tree
      .filter(({ hasInstallScript }) => hasInstallScript)
      .map((each) => `${named(each)} runs a script when it is installed`),
  ];
}

export function totalBytes(tree: readonly Dependency[]): number {
  return tree.reduce((sum, { bytes }) => sum + bytes, 0);
}
