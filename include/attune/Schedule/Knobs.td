// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every tunable of an attention kernel, declared once. From a record here come
// the field of #attn.schedule, the option of attn-set-schedule, the domain the
// search walks, the column of the database key and the line in the docs.
//
// Adding a tunable: add a record, add it to `allKnobs`, and make the one pass
// that obeys it read the field from #attn.schedule.

#ifndef ATTUNE_SCHEDULE_KNOBS_TD
#define ATTUNE_SCHEDULE_KNOBS_TD

// cpp:    name of the field and of the accessor, camelBack
// arg:    spelling in pass options, in the database and on the command line
// init:   value where nothing is said
// searched: values the search enumerates
// asked:    further values, which the search enumerates only where it is asked
//           for them (--only), lest the space grow by all their products
// domain:   values the verifier admits, all of these
class Knob<string cppName, string argName, int dflt, list<int> dom, string text, list<int> more = []> {
  string cpp = cppName;
  string arg = argName;
  int init = dflt;
  list<int> searched = dom;
  list<int> asked = more;
  list<int> domain = !listconcat(dom, more);
  string doc = text;
}

def Knob_BlockM : Knob<"blockM", "block-m", 128, [16, 32, 64, 96, 128, 192, 256],
  "Query rows owned by one workgroup.">;
def Knob_BlockN : Knob<"blockN", "block-n", 64, [16, 32, 48, 64, 80, 96, 112, 128, 160, 176, 192, 256],
  "Key rows visited by one step of the main loop.">;
def Knob_NumWarps : Knob<"numWarps", "num-warps", 4, [1, 2, 4, 8, 12, 16],
  "Warps (waves) of one workgroup that compute; query rows are dealt to them evenly.">;
def Knob_MmaWarps : Knob<"mmaWarps", "mma-warps", 1, [1, 4],
  "Warps that issue a matrix instruction together: 1, or 4 where the chip multiplies by warpgroups.">;
def Knob_ProducerWarps : Knob<"producerWarps", "producer-warps", 0, [0, 1, 4],
  "Warps of their own that copy into shared memory; 0 lets the computing warps do it. Four can hand registers over to the others.">;
def Knob_QStages : Knob<"qStages", "q-stages", 1, [1, 2],
  "Slots of the shared-memory ring that holds query tiles; a second one serves persistent workgroups alone.">;
def Knob_KStages : Knob<"kStages", "k-stages", 2, [1, 2, 3, 4],
  "Slots of the shared-memory ring that holds key blocks.">;
def Knob_VStages : Knob<"vStages", "v-stages", 2, [1, 2, 3, 4],
  "Slots of the shared-memory ring that holds value blocks.">;
def Knob_QInRegisters : Knob<"qInRegisters", "q-in-registers", 1, [0, 1],
  "1 keeps the query tile in registers for the whole loop, 0 reads it from shared memory at each step.">;
def Knob_PInRegisters : Knob<"pInRegisters", "p-in-registers", 1, [1],
  "1 multiplies the softmax's weights from registers, 0 writes them to shared memory and multiplies them from there.", [0]>;
def Knob_OInShared : Knob<"oInShared", "o-in-shared", 0, [0],
  "How the output leaves: 0 lanes store it from registers; 1 and 2 the copy engine stores it from shared memory, 1 from the query tile's slot and 2 from a buffer of its own.", [1, 2]>;
def Knob_Overlap : Knob<"overlap", "overlap", 0, [0, 1, 2],
  "What runs under a warpgroup's multiplies: 0 nothing, 1 the softmax of the next block, 2 also that of another warpgroup, in turns.">;
def Knob_Rescale : Knob<"rescale", "rescale", 0, [0, 8],
  "How far, in powers of two, scores may grow beyond the number that is subtracted from those of their row before the warp rescales the output: 0 rescales at each step, 8 seldom.">;
def Knob_RescaleLate : Knob<"rescaleLate", "rescale-late", 0, [0],
  "When a step of an overlapped loop rescales the output: 0 as soon as the multiply into it is done, 1 right before the next one, under the first multiply of the next block.", [1]>;
def Knob_ExpOnFma : Knob<"expOnFma", "exp-on-fma", 0, [0, 2, 4],
  "Sixteenths of the softmax's exponentials that are polynomials, computed by multiplies and adds beside those of the special function unit.">;
def Knob_SplitMasked : Knob<"splitMasked", "split-masked", 1, [0, 1],
  "1 gives fully visible key blocks a loop of their own without masking code, 0 tests each block in one loop.">;
def Knob_Unroll : Knob<"unroll", "unroll", 1, [1],
  "Key blocks visited by one turn of the main loop, the body of which is repeated so often.", [2, 4]>;
def Knob_TileOrder : Knob<"tileOrder", "tile-order", 1, [0, 1, 2],
  "Order in which query tiles start: 0 first to last in each head, 1 last to first (longest first under a causal mask), 2 the last ones of all heads first, in sections of heads whose keys and values fit the cache.">;
def Knob_Persistent : Knob<"persistent", "persistent", 0, [0, 1, 2],
  "1 and 2 launch as many workgroups as the chip holds, each of which computes one query tile after the other: 1 dealt in advance, every n-th to one of n, 2 whatever is next when it is done with one.">;
def Knob_MinBlocksPerCore : Knob<"minBlocksPerCore", "min-blocks-per-core", 1, [1, 2, 3, 4],
  "Workgroups that must fit on one core at a time; bounds the registers of a lane.">;
def Knob_Cluster : Knob<"cluster", "cluster", 1, [1, 2],
  "Workgroups of one cluster, which take neighbouring query tiles of a head and share what they load of its keys and values.">;

defvar allKnobs = [
  Knob_BlockM, Knob_BlockN, Knob_NumWarps, Knob_MmaWarps, Knob_ProducerWarps, Knob_QStages, Knob_KStages, Knob_VStages,
  Knob_QInRegisters, Knob_PInRegisters, Knob_OInShared, Knob_Overlap, Knob_Rescale, Knob_RescaleLate, Knob_ExpOnFma,
  Knob_SplitMasked, Knob_Unroll, Knob_TileOrder, Knob_Persistent, Knob_MinBlocksPerCore, Knob_Cluster
];

#endif // ATTUNE_SCHEDULE_KNOBS_TD
