// Runs before each test file that has a database: its service takes threads and child processes from the build.
import { useBuild } from '../base/places.ts';

useBuild();
