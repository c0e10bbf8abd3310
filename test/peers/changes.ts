/** Lets a test await a condition that depends on what a platform receives. */
export class Changes {
  readonly #watchers = new Set<() => void>();

  publish(): void {
    for (const look of this.#watchers) look();
  }

  until(holds: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!holds()) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }
}
