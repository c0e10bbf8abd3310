/** Returns the CPU time of this thread, in ms. Node 22.18 knows only that of the whole process. */
export function cpuTimeMs(): number {
  const { threadCpuUsage = process.cpuUsage }: Partial<NodeJS.Process> = process;
  const { user, system } = threadCpuUsage.call(process);
  return (user + system) / 1000;
}
