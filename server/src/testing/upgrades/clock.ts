// For `node --import`: moves the clock of a process by CLOCK_OFFSET_MS, and that of its threads, so that a week that has long ended is
// still open for it.
const offset = Number(process.env['CLOCK_OFFSET_MS']);
const RealDate = Date;
const now = () => RealDate.now() + offset;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, words: unknown[], newTarget) =>
    Reflect.construct(target, words.length === 0 ? [now()] : words, newTarget) as Date,
  apply: () => new RealDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});
