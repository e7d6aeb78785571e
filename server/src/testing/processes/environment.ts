// The environment of processes that tests start. From this machine it has only the PATH, and the cache of compiled modules, which
// halves the time of each start.
const { PATH, NODE_COMPILE_CACHE } = process.env;

export const bareEnvironment: NodeJS.ProcessEnv = { PATH, NODE_COMPILE_CACHE };
