// What a separate process of a benchmark does with its orders: it carries out one after another, and sends back the result or the error.

/** Serves orders until the parent process has ended, and says that it is ready. */
export function serveOrders<Order>(carryOut: (order: Order) => Promise<unknown>): void {
  const reply = async (order: Order) => {
    try {
      process.send?.(await carryOut(order));
    } catch (error) {
      process.send?.({ error: error instanceof Error ? error.stack : String(error) });
    }
  };
  process.once('disconnect', () => process.exit());
  process.on('message', (order: Order) => void reply(order));
  process.send?.('ready');
}
