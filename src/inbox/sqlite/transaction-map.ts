/** A map that changes only inside transactions, and that a rollback restores. */
export class TransactionMap<V extends {}> {
  readonly #values = new Map<string, V>();
  /** Keys that this transaction has changed, each with its previous value. */
  readonly #before: (readonly [key: string, value: V | undefined])[] = [];

  get size(): number {
    return this.#values.size;
  }

  has(key: string): boolean {
    return this.#values.has(key);
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  /** Returns the keys in the order in which they were added. */
  keys(): IterableIterator<string> {
    return this.#values.keys();
  }

  values(): IterableIterator<V> {
    return this.#values.values();
  }

  /** Returns the entries in the order in which their keys were added. */
  [Symbol.iterator](): IterableIterator<[string, V]> {
    return this.#values[Symbol.iterator]();
  }

  set(key: string, value: V): void {
    this.#before.push([key, this.#values.get(key)]);
    this.#values.set(key, value);
  }

  delete(key: string): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#before.push([key, value]);
    this.#values.delete(key);
  }

  clear(): void {
    for (const entry of this.#values) this.#before.push(entry);
    this.#values.clear();
  }

  /** Called once the transaction is committed. */
  committed(): void {
    this.#before.length = 0;
  }

  /** Called once the transaction is rolled back. */
  undone(): void {
    for (const [key, value] of this.#before.reverse()) {
      if (value === undefined) this.#values.delete(key);
      else this.#values.set(key, value);
    }
    this.#before.length = 0;
  }
}
