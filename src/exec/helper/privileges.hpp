// What a tool that runs as root gives up.
#pragma once

namespace assent {

/// For the child, before it becomes the shell: takes away, from it and all that come from it and for
/// good, the capabilities that reach into other processes, the kernel and the disks behind file names.
/// Those that root needs for files, users and the network stay. Nothing for other users, who have none.
void drop_privileges();

}  // namespace assent
