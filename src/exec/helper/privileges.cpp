#include "exec/helper/privileges.hpp"

#include "base/test_switch.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>

#include <initializer_list>

namespace assent {

void drop_privileges() {
    if (switched_off("privileges")) return;
    // Of the bounding set: the shell gets what is left of it when it is executed. Each stands for a way
    // around what keeps an agent from answering for a person.
    for (const int capability : {
             CAP_SYS_PTRACE,  // the memory of the runner, with keys and answers
             CAP_PERFMON,     // the same, to read
             CAP_CHECKPOINT_RESTORE,
             CAP_SYS_ADMIN,       // keystrokes into another's terminal, mounts
             CAP_SYS_TTY_CONFIG,  // a terminal taken from its owner
             CAP_SYS_RESOURCE,    // the mark of tools, which is a limit
             CAP_DAC_READ_SEARCH,
             CAP_MKNOD,      // a disk under a name of one's own
             CAP_SYS_RAWIO,  // memory and disks as a whole
             CAP_SYS_MODULE, CAP_SYS_BOOT, CAP_BPF, CAP_MAC_ADMIN, CAP_MAC_OVERRIDE,
             CAP_SYS_TIME,  // deadlines
         }) {
        // Unknown to this kernel, or not ours to drop: then it is not ours to use.
        prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
    }
}

}  // namespace assent
