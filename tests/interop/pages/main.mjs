// Every check of the pages, in order.
import './markup.mjs';
import './accessibility.mjs';
import './walk.mjs';
import './lighthouse.mjs';
import { runAll } from '../checks/suite.mjs';

process.exit((await runAll()) === 0 ? 0 : 1);
