/** Writes a path so that it can be pasted into a shell. */
export function quote(path: string, platform: NodeJS.Platform): string {
  if (platform === "win32") return /^[\w@%+=:,./\\-]+$/.test(path) ? path : `"${path}"`;
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
